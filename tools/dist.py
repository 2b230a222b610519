"""Make the packages in dist/: an sdist and, from it, wheels for any Linux; this machine's is used where no Rust is.

The packages are made from a copy of the tree (what git knows, as it is now), so that nothing is left in it. The
wheels are made from the unpacked sdist: what the sdist lacks, they would lack. Zig links against an old glibc, and for
another processor where Rust has its standard library (`rustup target add`).
"""

import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
COMPATIBILITY = "manylinux2014"  # glibc 2.17: the oldest that Rust links against
TOOLS = ("maturin==1.16.0", "ziglang==0.17.0", "auditwheel==6.8.2")
NEVER = {".git", ".venv", "target", "dist", "runs", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
ORDINARY = "nobody"
MINORS = range(11, 14)
"""Versions of Python 3 that the wheel is tried with, where they are."""
COMPILERS = ("cargo", "rustc")
PROCESSORS = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}
"""Processors that wheels are made for, by the names that Rust has for them."""
OF_EXTRAS = frozenset({"analysis.generate", "analysis.query", "root"})
"""Plug-ins that need an extra: two tests and an exporter of `analysis`."""


def tree_files(root: Path) -> list[Path]:
    """Return the files that belong to the project, relative to `root`: what git tracks or would track."""
    command = ["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
        paths = [Path(name) for name in found if name]
    except (OSError, subprocess.CalledProcessError):  # not a checkout, e.g. an unpacked archive
        paths = [path.relative_to(root) for path in root.rglob("*") if path.is_file() and path.suffix != ".so"]
    return sorted(path for path in set(paths) if (root / path).is_file() and not NEVER & set(path.parts))


def stage(root: Path, copy: Path) -> None:
    """Copy the project to `copy`, with the shipped suites and their plug-ins inside the package."""
    for path in tree_files(root):
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, copy / path)
    suites = copy / "src/pileup/suites"
    shutil.copytree(copy / "examples", suites, ignore=shutil.ignore_patterns("__pycache__"))


def without_compilers(path: str) -> str:
    """Return a PATH whose folders hold no Rust compiler; the system's own folders always stay, for what suites run."""
    folders = [
        each for each in path.split(os.pathsep) if each and not any((Path(each) / n).exists() for n in COMPILERS)
    ]
    return os.pathsep.join(dict.fromkeys([*folders, "/usr/bin", "/bin"]))


def package_files(copy: Path) -> list[str]:
    """Return the files of the package in a staged tree, as a wheel names them: suites, skeletons, stubs and all."""
    return sorted(str(path.relative_to(copy / "src")) for path in (copy / "src/pileup").rglob("*") if path.is_file())


def wheel_faults(names: Iterable[str], package: Iterable[str]) -> list[str]:
    """Return what a wheel with these names lacks: the engine, files of the package, the licence, the list of parts."""
    inside = set(names)
    loose = {name.partition(".dist-info/")[2] for name in inside}
    wanted = ["pileup/_core/_native.abi3.so", "pileup/py.typed", *package]
    missing = [name for name in wanted if name not in inside]
    missing += [name for name in ("licenses/LICENSE", "sboms/pileup-py.cyclonedx.json") if name not in loose]
    return [f"{name} is not in the wheel" for name in missing]


def targets() -> tuple[list[str], list[str]]:
    """Return the processors that Rust can build for here, this one first, and those that it cannot."""
    here = platform.machine()
    others = [name for name in PROCESSORS if name != here]
    can = [
        name
        for name in others
        if Path(run("rustc", "--print", "target-libdir", "--target", PROCESSORS[name]).strip()).is_dir()
    ]
    return [here, *can], [name for name in others if name not in can]


def run(*command: str | Path, cwd: Path = ROOT, user: str | None = None, **environment: str) -> str:
    """Run a command and return its stdout; on failure show all that it printed and end."""
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        user=user,
        extra_groups=[] if user else None,
    )
    if done.returncode != 0:
        printed = f"{done.stdout}{done.stderr}"
        sys.exit(f"{printed}\nmake dist: `{' '.join(map(str, command))}` ended with {done.returncode}")
    return done.stdout


def verdict(results: str) -> str:
    """Return the verdict of a run from results.json, or from what `pileup run` and `check` print with --json."""
    return str(json.loads(results)["verdict"])


def unavailable(listed: str) -> list[str]:
    """Return the plug-ins that cannot be loaded, with the reasons, from what `pileup list --json` prints.

    Those that need an extra are left out: the wheel alone does not bring their packages.
    """
    found = [each for plugins in json.loads(listed).values() for each in plugins]
    broken = [each for each in found if not each.get("available", True) and each["name"] not in OF_EXTRAS]
    return [f"{each['name']}: {each['about']}" for each in broken]


def make_tools() -> Path:
    """Return the bin folder of a venv with the tools that make packages, kept between calls."""
    folder = ROOT / "target/dist-tools"
    stamp = folder / ".installed"
    if not stamp.exists() or stamp.read_text() != " ".join(TOOLS):
        venv.create(folder, clear=True, with_pip=True)
        run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *TOOLS)
        stamp.write_text(" ".join(TOOLS))
    return folder / "bin"


def make_packages(tools: Path, scratch: Path, processors: Iterable[str]) -> tuple[Path, list[Path]]:
    """Make the sdist, and a wheel for each processor, in `scratch`; return them."""
    copy, out = scratch / "tree", scratch / "out"
    stage(ROOT, copy)
    # PATH: maturin looks for `python -m ziglang` there
    settings = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    settings["CARGO_TARGET_DIR"] = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    run(tools / "maturin", "sdist", "--out", out, cwd=copy, **settings)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(scratch / "unpacked", filter="data")
    (source,) = (scratch / "unpacked").iterdir()
    freshen(source)
    flags = ("--release", "--locked", "--zig", "--compatibility", COMPATIBILITY)
    wheels = []
    for name in processors:
        run(tools / "maturin", "build", *flags, "--target", PROCESSORS[name], "--out", out, cwd=source, **settings)
        wheels += out.glob(f"*_{name}.whl")
        faults = wheel_faults(zipfile.ZipFile(wheels[-1]).namelist(), package_files(copy))
        if faults:
            sys.exit("make dist: " + "; ".join(faults))
        tags = run(tools / "auditwheel", "show", wheels[-1])
        print(" ".join(tags.split()).partition(" The wheel references")[0], flush=True)
    return sdist, wheels


def freshen(folder: Path) -> None:
    """Make every file as new as it is: an sdist's are years old, and cargo would take what it has built from others."""
    for path in folder.rglob("*"):
        os.utime(path)


def check_wheel(wheel: Path, scratch: Path) -> None:
    """Install the wheel into a clean venv where no Rust is, and use it; ends with a message when something is wrong."""
    clean = scratch / "clean"
    venv.create(clean, with_pip=True)
    here = {"PATH": f"{clean}/bin", "PYTHONPATH": ""}
    run(clean / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=scratch, **here)
    here["PATH"] = f"{clean}/bin{os.pathsep}{without_compilers(os.environ['PATH'])}"
    program = clean / "bin/pileup"
    print(run(program, "--version", cwd=scratch, **here).strip())
    if broken := unavailable(run(program, "list", "--json", cwd=scratch, **here)):
        sys.exit("\n".join(["make dist: the wheel has plug-ins that do not load", *broken]))
    first = (program, "run", "suite:first-run", "--quiet", "--json", "--out", scratch / "runs")
    print(f"suite:first-run: {verdict(run(*first, cwd=scratch, **here))}")
    run(program, "new", "test", "own", cwd=scratch, **here)
    run(program, "run", "own.yaml", "--quiet", "--set", "length=1 s", cwd=scratch, **here)


def pythons() -> list[str]:
    """Return other Pythons on this machine that pileup is for: those on PATH, and those of pyenv."""
    found = []
    for minor in set(MINORS) - {sys.version_info[1]}:
        named = [f"python3.{minor}", *map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))]
        found += list(filter(works, named))[:1]
    return sorted(found)


def works(program: str) -> bool:
    """Return whether this is a Python that starts: pyenv puts programs on PATH that only say where others are."""
    return (
        bool(shutil.which(program))
        and subprocess.run([program, "-V"], capture_output=True, check=False).returncode == 0
    )


def check_python(program: str, wheel: Path, scratch: Path) -> None:
    """Install the wheel with another Python, and run a check with it."""
    folder = scratch / f"env{len(list(scratch.glob('env*')))}"
    here = {"PATH": without_compilers(os.environ["PATH"]), "PYTHONPATH": ""}
    run(program, "-m", "venv", folder, **here)
    run(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=scratch, **here)
    check = (folder / "bin/pileup", "check", scratch, "--quiet", "--json", "--out", scratch / "runs")
    print(f"with {run(program, '--version').strip()}: {verdict(run(*check, cwd=scratch, **here))}")


def check_account(wheel: Path) -> None:
    """As root: install the wheel as a user who has nothing but a folder, and run the first suites there."""
    if os.geteuid() != 0:
        print("not root: that another account can install and use the wheel is not tried")
        return
    with tempfile.TemporaryDirectory(prefix="pileup-account-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        shutil.copy2(wheel, home)
        shutil.chown(home, ORDINARY)
        path = without_compilers(os.environ["PATH"])
        here = {"HOME": folder, "PATH": path, "PYTHONPATH": "", "PILEUP_RUNS": ""}
        run("python3", "-m", "venv", home / "env", cwd=home, user=ORDINARY, **here)
        pip = (home / "env/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir")
        run(*pip, home / wheel.name, cwd=home, user=ORDINARY, **here)
        suites = ["first-run"] + ["storage-check"] * bool(shutil.which("xrootd"))
        for suite in suites:
            words = (home / "env/bin/pileup", "run", f"suite:{suite}", "--quiet", "--json")
            print(f"as user {ORDINARY}, suite:{suite}: {verdict(run(*words, cwd=home, user=ORDINARY, **here))}")


def check_sdist(sdist: Path, scratch: Path) -> None:
    """Give the sdist to pip where no Rust is: it must say in its own words what it needs."""
    path = without_compilers(os.environ["PATH"])
    command = [scratch / "clean/bin/pip", "wheel", "--no-deps", "--wheel-dir", scratch / "none", sdist]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode == 0 or "expected rustc" not in said:
        sys.exit(f"{said}\nmake dist: without Rust the sdist does not say that it needs one")
    print("without Rust the sdist says:" + next(line for line in said.splitlines() if "expected rustc" in line))


def main() -> int:
    """Make the packages, check them, put them into dist/."""
    tools = make_tools()
    here, missing = targets()
    for name in missing:
        print(f"no wheel for {name}: Rust cannot build for it here (rustup target add {PROCESSORS[name]})")
    with tempfile.TemporaryDirectory(prefix="pileup-dist-") as folder:
        scratch = Path(folder)
        print(f"making sdist and wheels for {', '.join(here)} (a few minutes each the first time) ...", flush=True)
        sdist, wheels = make_packages(tools, scratch, here)
        print("checking the wheel in a clean venv without Rust ...", flush=True)
        check_wheel(wheels[0], scratch)
        for program in pythons():
            check_python(program, wheels[0], scratch)
        check_account(wheels[0])
        check_sdist(sdist, scratch)
        DIST.mkdir(exist_ok=True)
        for package in (sdist, *wheels):
            shutil.copy2(package, DIST)
            print(f"{DIST.name}/{package.name}  {package.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
