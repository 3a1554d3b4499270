// The threads of a block as fibers: a thread runs until it ends or reaches a barrier, then
// the next one has its turn.
//
// One fiber runs thread after thread until one of them waits; so a kernel without barriers
// is a plain loop on one stack, and the fibers of a block serve the next block again.

#ifndef KIRIN_SHIM_THREADS

#include <cstdlib>
#include <memory>
#include <mutex>

#include <sys/mman.h>
#include <unistd.h>

#include "order.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a call preserves on the present stack, its pointer in `*from`,
// and goes on where `to` was saved.
extern "C" void kirin_shim_switch(void **from, void *to);

#if defined(__x86_64__)
asm(".text\n"
    ".globl kirin_shim_switch\n"
    ".hidden kirin_shim_switch\n"
    ".type kirin_shim_switch,@function\n"
    "kirin_shim_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  popq %rcx\n  jmp *%rcx\n" // a return to where no call came from would be mispredicted
    ".size kirin_shim_switch,.-kirin_shim_switch\n");
enum { saved_words = 8, return_word = 6 };
#elif defined(__aarch64__)
asm(".text\n"
    ".globl kirin_shim_switch\n"
    ".hidden kirin_shim_switch\n"
    ".type kirin_shim_switch,%function\n"
    "kirin_shim_switch:\n"
    "  sub sp, sp, #160\n"
    "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
    "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
    "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
    "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
    "  mov x9, sp\n  str x9, [x0]\n"
    "  mov sp, x1\n"
    "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
    "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
    "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
    "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
    "  add sp, sp, #160\n"
    "  ret\n"
    ".size kirin_shim_switch,.-kirin_shim_switch\n");
enum { saved_words = 20, return_word = 11 };
#else
#error "kirin's shim knows how to switch stacks on x86-64 and aarch64 only"
#endif

namespace shim {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;
const std::size_t page = std::size_t(sysconf(_SC_PAGESIZE));

struct Fiber {
    char *stack = nullptr;
    std::size_t unused = 0;  // bytes at the top of the stack
    void *pointer = nullptr; // where its registers lie while it does not run
    void *sanitizer = nullptr;
    Index index{};           // of the thread that it runs
    const char *file = nullptr;
    int line = 0;            // of the barrier at which it waits

    Fiber();
    Fiber(const Fiber &) = delete;
    ~Fiber() { munmap(stack - page, stack_bytes + page); }
    void reset();
};

// What runs now: one block.
struct {
    const Kernel *kernel;
    const void *args;
    std::size_t threads, next; // started so far
    std::vector<std::size_t> order; // empty: in plain order
    const Permutations *permutations;
    std::vector<Fiber *> waiting, idle;
    std::vector<std::unique_ptr<Fiber>> all;
    Fiber *current;
    void *scheduler; // registers
    void *scheduler_sanitizer;
    const void *scheduler_stack;
    std::size_t scheduler_bytes;
    int vote, result; // of the barrier that is being reached, of the last one
} run;

// Between the two halves of a switch the sanitizer must know whose stack is in use.
void leave(void **sanitizer, const void *stack, std::size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(sanitizer, stack, bytes);
#else
    (void)sanitizer, (void)stack, (void)bytes;
#endif
}

void arrive(void *sanitizer, const void **stack, std::size_t *bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(sanitizer, stack, bytes);
#else
    (void)sanitizer, (void)stack, (void)bytes;
#endif
}

void resume(Fiber *fiber)
{
    run.current = fiber;
    leave(&run.scheduler_sanitizer, fiber->stack, stack_bytes);
    kirin_shim_switch(&run.scheduler, fiber->pointer);
    arrive(run.scheduler_sanitizer, nullptr, nullptr);
}

void pause(Fiber *fiber)
{
    leave(&fiber->sanitizer, run.scheduler_stack, run.scheduler_bytes);
    kirin_shim_switch(&fiber->pointer, run.scheduler);
    arrive(fiber->sanitizer, &run.scheduler_stack, &run.scheduler_bytes);
}

[[noreturn]] void live()
{
    Fiber *self = run.current;
    arrive(nullptr, &run.scheduler_stack, &run.scheduler_bytes);
    for (;;) {
        while (run.next < run.threads) {
            std::size_t i = run.next++;
            i = run.order.empty() ? run.permutations->plain(i, run.threads) : run.order[i];
            self->index = unfold(i, blockDim);
            threadIdx = self->index;
            run.kernel->thread(run.args);
        }
        run.idle.push_back(self);
        pause(self);
    }
}

Fiber::Fiber()
{
    // A page that nobody may touch lies below each stack.
    void *memory = mmap(nullptr, stack_bytes + page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    stack = static_cast<char *>(memory) + page;
    if (mprotect(stack, stack_bytes, PROT_READ | PROT_WRITE) != 0)
        abort();
    // Tops of stacks a whole number of pages apart would compete for few places of the caches.
    unused = run.all.size() % 61 * 64;
    reset();
}

// Forgets what it ran, and begins anew at its next turn.
void Fiber::reset()
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(stack, stack_bytes);
#endif
    void **top = reinterpret_cast<void **>(stack + stack_bytes - unused) - saved_words - 2;
    for (int i = 0; i < saved_words; i++)
        top[i] = nullptr;
    top[return_word] = reinterpret_cast<void *>(&live);
    pointer = top;
    sanitizer = nullptr;
}

Fiber *idle_fiber()
{
    if (run.idle.empty()) {
        run.all.push_back(std::make_unique<Fiber>());
        return run.all.back().get();
    }
    Fiber *fiber = run.idle.back();
    run.idle.pop_back();
    return fiber;
}

// After each thread had its turn: whether all wait at one barrier, or none waits.
std::string divergence()
{
    const std::vector<Fiber *> &waiting = run.waiting;
    if (waiting.empty())
        return "";
    const Fiber &first = *waiting.front();
    std::size_t there = 0;
    for (const Fiber *fiber : waiting)
        there += fiber->line == first.line && fiber->file == first.file;
    if (there == run.threads)
        return "";
    return std::to_string(there) + " of " + std::to_string(run.threads) + " threads wait at " +
           first.file + ":" + std::to_string(first.line) + ", " +
           std::to_string(waiting.size() - there) + " at another barrier, the others ended";
}

std::string run_block(Permutations &permutations)
{
    run.next = 0;
    run.order.clear();
    if (!permutations.plain()) {
        for (std::size_t i = 0; i < run.threads; i++)
            run.order.push_back(i);
        permutations.shuffle(run.order);
    }
    run.vote = 0;
    run.waiting.clear();
    while (run.next < run.threads)
        resume(idle_fiber());
    std::vector<Fiber *> ready;
    for (;;) {
        std::string wrong = divergence();
        if (!wrong.empty()) {
            for (Fiber *fiber : run.waiting) {
                fiber->reset();
                run.idle.push_back(fiber);
            }
            return wrong;
        }
        if (run.waiting.empty())
            return "";
        ready.clear();
        ready.swap(run.waiting);
        permutations.shuffle(ready);
        run.result = run.vote;
        run.vote = 0;
        for (Fiber *fiber : ready)
            resume(fiber);
    }
}

} // namespace

int barrier(const char *file, int line, int vote)
{
    Fiber *self = run.current;
    self->file = file;
    self->line = line;
    run.vote |= vote;
    run.waiting.push_back(self);
    pause(self);
    threadIdx = self->index;
    return run.result;
}

void fence() {}

std::string launch(const Kernel &kernel, const void *args, Index grid, Index block, Order order)
{
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    Permutations permutations(order);
    run.kernel = &kernel;
    run.args = args;
    run.threads = volume(block);
    run.permutations = &permutations;
    gridDim = grid;
    blockDim = block;
    std::size_t blocks = volume(grid);
    std::vector<std::size_t> sequence;
    if (!permutations.plain()) {
        for (std::size_t i = 0; i < blocks; i++)
            sequence.push_back(i);
        permutations.shuffle(sequence);
    }
    for (std::size_t i = 0; i < blocks; i++) {
        blockIdx = unfold(sequence.empty() ? permutations.plain(i, blocks) : sequence[i], grid);
        std::string wrong = run_block(permutations);
        if (!wrong.empty())
            return std::string(kernel.name) + ", block " + std::to_string(blockIdx.x) + " " +
                   std::to_string(blockIdx.y) + " " + std::to_string(blockIdx.z) + ": " + wrong;
    }
    return "";
}

} // namespace shim

#endif
