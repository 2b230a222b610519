/* The least that a closed loop of stat over xroot costs: epoll on one thread, no timeouts, no redirects, one buffer.
 *
 * Each session logs in without authentication and asks again when its answer is there. Every stat is recorded as pileup
 * does: a row of 88 bytes, written to a file 8,192 at a time, and a count in a histogram. Prints CPU time and count over
 * a window as JSON, as stat_of_bindings.py does.
 *
 *     cc -O2 -o loop_of_stat benchmarks/loop_of_stat.c
 *     ./loop_of_stat HOST PORT SESSIONS PATH WARM WINDOW RECORD
 *
 * Requests and answers are those of "The XRootD Protocol", version 5.1.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 8192, EVENTS = 256, LARGEST = 4096, LOGIN = 3007, PROTOCOL = 3006, STAT = 3017 };

struct row {
    uint64_t id, parent;
    int64_t intended, start, first_byte, end;
    uint64_t bytes;
    uint32_t key, error, operation, of_case, client, calls;
    uint16_t target, place;
    uint8_t side, phase, outcome, cause;
};

_Static_assert(sizeof(struct row) == 88, "a row of docs/record.md");

struct session {
    int descriptor;
    uint32_t number, got;
    int64_t start;
    unsigned char answer[LARGEST];
};

static struct row rows[ROWS];
static uint64_t histogram[64 << 10];
static unsigned count_of_rows;
static int record, asked_length;
static unsigned char asked[LARGEST];

static void give_up(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static double cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static int put(unsigned char *into, uint16_t code, const unsigned char body[16], const char *data) {
    uint32_t length = htonl((uint32_t)strlen(data));
    memset(into, 0, 24);
    into[1] = 1;
    into[2] = code >> 8;
    into[3] = code & 255;
    memcpy(into + 4, body, 16);
    memcpy(into + 20, &length, 4);
    memcpy(into + 24, data, strlen(data));
    return 24 + (int)strlen(data);
}

static void all(int descriptor, unsigned char *bytes, int length, int out) {
    for (int done = 0; done < length;) {
        ssize_t more = out ? write(descriptor, bytes + done, length - done) : read(descriptor, bytes + done, length - done);
        if (more <= 0) give_up("log in");
        done += (int)more;
    }
}

static uint32_t length_of(const unsigned char *head) {
    uint32_t length;
    memcpy(&length, head + 4, 4);
    return ntohl(length);
}

/* Read an answer; one that is not in order ends the program. */
static void answered(int descriptor) {
    unsigned char answer[LARGEST];
    all(descriptor, answer, 8, 0);
    if (answer[2] || answer[3] || length_of(answer) > LARGEST) give_up("log in: the server refused");
    all(descriptor, answer, (int)length_of(answer), 0);
}

static int connected(const struct sockaddr_in *server, uint32_t number) {
    int one = 1, descriptor = socket(AF_INET, SOCK_STREAM, 0);
    if (descriptor < 0 || connect(descriptor, (const struct sockaddr *)server, sizeof *server)) give_up("connect");
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    unsigned char out[256] = {[15] = 4, [18] = 2012 >> 8, [19] = 2012 & 255}, body[16] = {0, 0, 5, 0x11, 0, 3};
    int length = 20 + put(out + 20, PROTOCOL, body, "");
    all(descriptor, out, length, 1);
    answered(descriptor); /* to the handshake */
    answered(descriptor);
    memset(body, 0, sizeof body);
    memcpy(body, &number, 4);
    memcpy(body + 4, "loop", 4);
    body[14] = 5;
    all(descriptor, out, put(out, LOGIN, body, ""), 1);
    answered(descriptor);
    if (fcntl(descriptor, F_SETFL, O_NONBLOCK)) give_up("fcntl");
    return descriptor;
}

static void ask(struct session *session) {
    session->got = 0;
    session->start = now();
    if (write(session->descriptor, asked, asked_length) != asked_length) give_up("ask");
}

/* Record the stat that has just been answered. */
static void keep(const struct session *session, int64_t end, int failed) {
    static uint64_t last;
    uint64_t took = (uint64_t)(end - session->start);
    int shift = took < 2048 ? 0 : 53 - __builtin_clzll(took);
    histogram[((unsigned)shift << 10) + (took >> shift)]++;
    rows[count_of_rows++] = (struct row){.id = ++last, .intended = session->start, .start = session->start, .first_byte = end,
                                         .end = end, .client = session->number, .calls = 1, .outcome = (uint8_t)failed};
    if (count_of_rows == ROWS) {
        if (write(record, rows, sizeof rows) != sizeof rows) give_up("record");
        count_of_rows = 0;
    }
}

/* Take what has come; 1 when the answer is whole. */
static int take(struct session *session) {
    ssize_t more = read(session->descriptor, session->answer + session->got, LARGEST - session->got);
    if (more < 0 && errno == EAGAIN) return 0;
    if (more <= 0) give_up("answer");
    session->got += (uint32_t)more;
    return session->got >= 8 && session->got >= 8 + length_of(session->answer);
}

int main(int count, char **words) {
    if (count != 8) return fprintf(stderr, "expected HOST PORT SESSIONS PATH WARM WINDOW RECORD\n"), 2;
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[2]))};
    inet_pton(AF_INET, words[1], &server.sin_addr);
    int sessions = atoi(words[3]), queue = epoll_create1(0);
    struct rlimit most;
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
    record = open(words[7], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct session *all_of_them = calloc((size_t)sessions, sizeof *all_of_them);
    if (record < 0 || !all_of_them) give_up("begin");
    asked_length = put(asked, STAT, (unsigned char[16]){0}, words[4]);
    for (int number = 0; number < sessions; number++) {
        struct session *session = all_of_them + number;
        *session = (struct session){.descriptor = connected(&server, (uint32_t)number), .number = (uint32_t)number};
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = session};
        if (epoll_ctl(queue, EPOLL_CTL_ADD, session->descriptor, &event)) give_up("epoll");
    }
    for (int number = 0; number < sessions; number++) ask(all_of_them + number);
    int64_t begin = now() + (int64_t)(atof(words[5]) * 1e9), end = begin + (int64_t)(atof(words[6]) * 1e9), since = 0;
    uint64_t passed = 0, failed = 0, before = 0;
    for (double used = 0;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(queue, events, EVENTS, 1000);
        if (ready < 0) give_up("wait");
        for (int number = 0; number < ready; number++) {
            struct session *session = events[number].data.ptr;
            if (!take(session)) continue;
            int wrong = session->answer[2] || session->answer[3];
            keep(session, now(), wrong);
            passed += !wrong;
            failed += (uint64_t)wrong;
            ask(session);
        }
        int64_t time = now();
        if (!since && time >= begin) since = time, used = cpu(), before = passed;
        if (since && time >= end) {
            used = cpu() - used;
            double seconds = (double)(time - since) / 1e9, stats = (double)(passed - before);
            printf("{\"window\": {\"count\": %.0f, \"seconds\": %f, \"cpu\": %f, \"us\": %f}, \"failed\": %lu}\n", stats, seconds,
                   used, stats ? used / stats * 1e6 : 0, failed);
            return 0;
        }
    }
}
