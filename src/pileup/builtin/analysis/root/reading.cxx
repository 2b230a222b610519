// What the process of ROOT reads with: RDataFrame over one file, and counters of what it asks its file for.
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ROOT/RDataFrame.hxx>
#include <ROOT/RDF/RActionImpl.hxx>
#include <ROOT/RNTupleDS.hxx>
#include <ROOT/RRawFile.hxx>
#include <ROOT/RRawFileNetXNG.hxx>
#include <ROOT/RRawFileUnix.hxx>
#include <ROOT/RVec.hxx>
#include <TEnv.h>
#include <TFile.h>
#include <TFileCacheRead.h>
#include <TH1D.h>
#include <TPluginManager.h>
#include <TROOT.h>
#include <TTimeStamp.h>
#include <TTree.h>
#include <TVirtualPerfStats.h>

namespace pileup {

// What has been read so far; vector reads are among the calls.
struct Counters {
   std::uint64_t bytes = 0, calls = 0, vectors = 0, pieces = 0;
   double unzip = 0; // seconds
};

Counters &read_so_far()
{
   static Counters counters;
   return counters;
}

// Each read, if they are traced: ns since the epoch.
struct Read {
   std::int64_t begin, end;
   std::uint64_t bytes;
};

struct Trace {
   bool on = false;
   std::vector<Read> reads;

   void add(std::int64_t begin, std::uint64_t bytes)
   {
      if (on)
         reads.push_back({begin, now(), bytes});
   }
   static std::int64_t now()
   {
      using namespace std::chrono;
      return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
   }
};

Trace &trace()
{
   static Trace kept;
   return kept;
}

const std::string kLocal = "root://pileup.local/";

// A file of an RNTuple: RDataFrame opens it by its url and tells nobody what it reads.
class CountedRawFile final : public ROOT::Internal::RRawFile {
   using RRawFile = ROOT::Internal::RRawFile;
   std::unique_ptr<RRawFile> fFile;

   void OpenImpl() final { fOptions.fBlockSize = 0; } // the file below has the buffer
   size_t ReadAtImpl(void *buffer, size_t size, std::uint64_t offset) final;
   std::uint64_t GetSizeImpl() final { return fFile->GetSize(); }
   void ReadVImpl(RIOVec *pieces, unsigned int number) final;

public:
   CountedRawFile(std::string_view url, ROptions options);
   std::unique_ptr<RRawFile> Clone() const final { return std::make_unique<CountedRawFile>(fUrl, fOptions); }
   RIOVecLimits GetReadVLimits() final { return fFile->GetReadVLimits(); }
};

CountedRawFile::CountedRawFile(std::string_view url, ROptions options) : RRawFile(url, options)
{
   options.fBlockSize = 0; // so that what is counted is what goes over the network
   if (fUrl.compare(0, kLocal.size(), kLocal) == 0)
      fFile = std::make_unique<ROOT::Internal::RRawFileUnix>(fUrl.substr(kLocal.size() - 1), options);
   else
      fFile = std::make_unique<ROOT::Internal::RRawFileNetXNG>(fUrl, options);
}

size_t CountedRawFile::ReadAtImpl(void *buffer, size_t size, std::uint64_t offset)
{
   const auto begin = Trace::now();
   const auto got = fFile->ReadAt(buffer, size, offset);
   trace().add(begin, got);
   read_so_far().bytes += got;
   read_so_far().calls += 1;
   return got;
}

void CountedRawFile::ReadVImpl(RIOVec *pieces, unsigned int number)
{
   const auto begin = Trace::now();
   fFile->ReadV(pieces, number);
   std::uint64_t bytes = 0;
   for (unsigned int each = 0; each < number; ++each)
      bytes += pieces[each].fOutBytes;
   trace().add(begin, bytes);
   auto &counters = read_so_far();
   counters.bytes += bytes;
   counters.calls += 1;
   counters.vectors += 1;
   counters.pieces += number;
}

// What a TTree says of its reads and of the time of decompression.
class TreeCounters final : public TVirtualPerfStats {
   void SetFile(TFile *) override {}

public:
   void SimpleEvent(EEventType) override {}
   void PacketEvent(const char *, const char *, const char *, Long64_t, Double_t, Double_t, Double_t, Long64_t) override {}
   void FileEvent(const char *, const char *, const char *, const char *, Bool_t) override {}
   void FileOpenEvent(TFile *, const char *, Double_t) override {}
   void FileReadEvent(TFile *, Int_t size, Double_t start) override
   {
      trace().add(static_cast<std::int64_t>(start * 1e9), size);
   }
   void UnzipEvent(TObject *, Long64_t, Double_t start, Int_t, Int_t) override
   {
      read_so_far().unzip += TTimeStamp().AsDouble() - start;
   }
   void RateEvent(Double_t, Double_t, Long64_t, Long64_t) override {}
   void SetBytesRead(Long64_t) override {}
   Long64_t GetBytesRead() const override { return 0; }
   void SetNumEvents(Long64_t) override {}
   Long64_t GetNumEvents() const override { return 0; }
   void PrintBasketInfo(Option_t *) const override {}
   void SetLoaded(TBranch *, size_t) override {}
   void SetLoaded(size_t, size_t) override {}
   void SetLoadedMiss(TBranch *, size_t) override {}
   void SetLoadedMiss(size_t, size_t) override {}
   void SetMissed(TBranch *, size_t) override {}
   void SetMissed(size_t, size_t) override {}
   void SetUsed(TBranch *, size_t) override {}
   void SetUsed(size_t, size_t) override {}
   void UpdateBranchIndices(TObjArray *) override {}
};

// `path` is where this file is: a plugin is a library or a macro, which ROOT looks for, and does not load again.
void prepare(const std::string &path)
{
   // ROOT reads the file itself where a url of this machine names a path that is there, unless it is told not to
   if (!gEnv->Defined("Path.ForceRemote"))
      gEnv->SetValue("Path.ForceRemote", 1);
   TH1::AddDirectory(false);
   // ROOT knows TNetXNGFile for root:// alone, though its library speaks roots://
   gPluginMgr->FindHandler("TFile", "root://");
   gPluginMgr->AddHandler("TFile", "^roots:", "TNetXNGFile", "NetxNG", "TNetXNGFile(const char*,Option_t*,const char*,Int_t,Int_t,Bool_t)");
   gPluginMgr->FindHandler("ROOT::Internal::RRawFile", "root://"); // loads ROOT's own, which ours replaces
   gPluginMgr->AddHandler("ROOT::Internal::RRawFile", "^root[s]?:", "pileup::CountedRawFile", path.c_str(),
                          "CountedRawFile(std::string_view, ROOT::Internal::RRawFile::ROptions)");
}

// A file that is open, as data frames of its events.
class File {
   std::unique_ptr<TFile> fFile;
   std::unique_ptr<TreeCounters> fPerf;
   TTree *fTree = nullptr;
   std::unique_ptr<ROOT::RDataFrame> fFrame;
   Long64_t fBytes = 0;
   Int_t fCalls = 0, fVectors = 0;

public:
   std::uint64_t entries = 0;

   File(const std::string &url, const std::string &name, bool ntuple, Long64_t cache);
   ~File();
   ROOT::RDF::RNode events(std::uint64_t begin, std::uint64_t end);
   void count();
   std::string kind() const { return fFile ? fFile->ClassName() : ""; }
};

// What a constructor leaves has no destructor.
[[noreturn]] void throw_closed(const std::string &problem)
{
   gPerfStats = nullptr;
   throw std::runtime_error(problem);
}

File::File(const std::string &url, const std::string &name, bool ntuple, Long64_t cache)
{
   if (ntuple) {
      fFrame = std::make_unique<ROOT::RDataFrame>(ROOT::RDF::FromRNTuple(name, url[0] == '/' ? kLocal + url.substr(1) : url));
      entries = *fFrame->Count(); // without columns nothing is read for it
      return;
   }
   fPerf = std::make_unique<TreeCounters>();
   gPerfStats = fPerf.get(); // without this neither reads nor baskets look at the clock
   fFile.reset(TFile::Open(url.c_str()));
   if (!fFile || fFile->IsZombie())
      throw_closed("ROOT cannot open it");
   fTree = fFile->Get<TTree>(name.c_str());
   if (!fTree)
      throw_closed("it has no " + name);
   if (cache >= 0)
      fTree->SetCacheSize(cache);
   fTree->SetPerfStats(fPerf.get());
   entries = fTree->GetEntries();
   fFrame = std::make_unique<ROOT::RDataFrame>(*fTree);
   count();
}

File::~File()
{
   fFrame.reset();
   if (fTree)
      fTree->SetPerfStats(nullptr);
   gPerfStats = nullptr;
}

ROOT::RDF::RNode File::events(std::uint64_t begin, std::uint64_t end)
{
   if (begin == 0 && end >= entries)
      return ROOT::RDF::AsRNode(*fFrame);
   return ROOT::RDF::AsRNode(fFrame->Range(begin, end));
}

// Add what a TFile has read since the last call; a raw file counts by itself.
void File::count()
{
   if (!fFile)
      return;
   auto &counters = read_so_far();
   const auto cache = fFile->GetCacheRead(fTree);
   const Long64_t bytes = fFile->GetBytesRead() + fFile->GetBytesReadExtra();
   const Int_t calls = fFile->GetReadCalls(), vectors = cache ? cache->GetReadCalls() : 0;
   counters.bytes += bytes - std::exchange(fBytes, bytes);
   counters.calls += calls - std::exchange(fCalls, calls);
   counters.vectors += vectors - std::exchange(fVectors, vectors);
}

// How many values a column has, and how many exceed its middle.
struct Tally {
   std::uint64_t values = 0, above = 0;
};

template <typename T>
void add(Tally &tally, const T &value, double middle)
{
   tally.values += 1;
   tally.above += value > middle;
}

template <typename T>
void add(Tally &tally, const ROOT::RVec<T> &values, double middle)
{
   tally.values += values.size();
   for (const auto value : values)
      tally.above += value > middle;
}

template <typename T>
class Tallied final : public ROOT::Detail::RDF::RActionImpl<Tallied<T>> {
   std::shared_ptr<Tally> fTally = std::make_shared<Tally>();
   double fMiddle;

public:
   using Result_t = Tally;
   explicit Tallied(double middle) : fMiddle(middle) {}
   Tallied(Tallied &&) = default;
   std::shared_ptr<Tally> GetResultPtr() const { return fTally; }
   void Initialize() {}
   void InitTask(TTreeReader *, unsigned int) {}
   void Exec(unsigned int /* slot */, const T &value) { add(*fTally, value, fMiddle); }
   void Finalize() {}
   std::string GetActionName() const { return "Tallied"; }
};

// A query: columns to tally, histograms of some; run over a data frame.
class Query {
   struct Column {
      std::string name;
      bool counter;
      double middle;
   };
   struct Histogram {
      std::string column;
      bool counter;
      int bins;
      double low, high;
   };
   std::vector<Column> fColumns;
   std::vector<Histogram> fHistograms;

public:
   std::vector<std::uint64_t> values, above;
   std::vector<std::vector<double>> counts;

   void column(const std::string &name, bool counter, double middle) { fColumns.push_back({name, counter, middle}); }
   void histogram(const std::string &column, bool counter, int bins, double low, double high)
   {
      fHistograms.push_back({column, counter, bins, low, high});
   }
   std::uint64_t run(ROOT::RDF::RNode events);
};

std::uint64_t Query::run(ROOT::RDF::RNode events)
{
   using Floats = ROOT::RVec<float>;
   std::vector<ROOT::RDF::RResultPtr<Tally>> tallies;
   std::vector<ROOT::RDF::RResultPtr<TH1D>> histograms;
   auto number = events.Count();
   for (const auto &each : fColumns)
      tallies.push_back(each.counter ? events.Book<int>(Tallied<int>(each.middle), {each.name})
                                     : events.Book<Floats>(Tallied<Floats>(each.middle), {each.name}));
   for (const auto &each : fHistograms) {
      const ROOT::RDF::TH1DModel model{each.column.c_str(), "", each.bins, each.low, each.high};
      histograms.push_back(each.counter ? events.Histo1D<int>(model, each.column)
                                        : events.Histo1D<Floats>(model, each.column));
   }
   const auto found = *number;
   values.clear(), above.clear(), counts.clear();
   for (auto &each : tallies) {
      values.push_back(each->values);
      above.push_back(each->above);
   }
   for (auto &each : histograms)
      counts.emplace_back(each->GetArray(), each->GetArray() + each->GetNbinsX() + 2);
   return found;
}

} // namespace pileup
