// The threads of a block as threads of the system, for the thread sanitizer: it then sees
// accesses to shared and global memory that no barrier orders.
//
// Blocks still run one after another, so races between blocks stay hidden here; running the
// blocks in another order (fibers.cc) shows those that matter.

#ifdef KIRIN_SHIM_THREADS

#include <condition_variable>
#include <mutex>
#include <thread>

#include "order.h"

namespace shim {
namespace {

struct Divergence {};

// The barrier of a block.
struct {
    std::mutex mutex;
    std::condition_variable reached;
    std::size_t present, waiting, rounds;
    const char *file;
    int line, vote, result;
    std::string wrong;
} gate;

void begin_block(std::size_t threads)
{
    std::lock_guard<std::mutex> lock(gate.mutex);
    gate.present = threads;
    gate.waiting = 0;
    gate.vote = 0;
}

void diverge(const char *file, int line, const char *how)
{
    gate.wrong = std::string("threads wait at ") + file + ":" + std::to_string(line) + how;
    gate.reached.notify_all();
}

void end_thread()
{
    std::lock_guard<std::mutex> lock(gate.mutex);
    gate.present--;
    if (gate.waiting > 0 && gate.wrong.empty())
        diverge(gate.file, gate.line, ", others ended");
}

} // namespace

int barrier(const char *file, int line, int vote)
{
    std::unique_lock<std::mutex> lock(gate.mutex);
    if (gate.wrong.empty() && gate.present < volume(blockDim))
        diverge(file, line, ", others ended");
    if (gate.wrong.empty() && gate.waiting > 0 && (gate.file != file || gate.line != line))
        diverge(file, line, ", others at another barrier");
    if (!gate.wrong.empty())
        throw Divergence();
    gate.file = file;
    gate.line = line;
    gate.vote |= vote;
    std::size_t round = gate.rounds;
    if (++gate.waiting == gate.present) {
        gate.waiting = 0;
        gate.rounds++;
        gate.result = gate.vote;
        gate.vote = 0;
        gate.reached.notify_all();
    } else {
        gate.reached.wait(lock, [=] { return gate.rounds != round || !gate.wrong.empty(); });
        if (gate.rounds == round)
            throw Divergence();
    }
    return gate.result;
}

// The sanitizer knows no fences: an access to one place that all of them order.
void fence()
{
    static int place;
    __atomic_fetch_add(&place, 1, __ATOMIC_SEQ_CST);
}

std::string launch(const Kernel &kernel, const void *args, Index grid, Index block, Order order)
{
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    gridDim = grid;
    blockDim = block;
    std::size_t blocks = volume(grid), threads = volume(block);
    std::vector<std::size_t> sequence;
    Permutations permutations(order);
    for (std::size_t i = 0; i < blocks; i++)
        sequence.push_back(permutations.plain(i, blocks));
    permutations.shuffle(sequence);
    gate.wrong.clear();
    for (std::size_t i : sequence) {
        begin_block(threads);
        std::vector<std::thread> team;
        for (std::size_t t = 0; t < threads; t++)
            team.emplace_back([&, t, i] {
                threadIdx = unfold(t, block);
                blockIdx = unfold(i, grid);
                try {
                    kernel.thread(args);
                } catch (const Divergence &) {
                }
                end_thread();
            });
        for (std::thread &member : team)
            member.join();
        if (!gate.wrong.empty()) {
            Index at = unfold(i, grid);
            return std::string(kernel.name) + ", block " + std::to_string(at.x) + " " +
                   std::to_string(at.y) + " " + std::to_string(at.z) + ": " + gate.wrong;
        }
    }
    return "";
}

} // namespace shim

#endif
