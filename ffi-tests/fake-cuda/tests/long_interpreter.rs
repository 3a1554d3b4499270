//! The fake driver's PTX interpreter runs small kernels. Most of them have an error that it must report.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use fake_cuda::{Log, Product, Sanitizer, build, with_interpreter};
use kirin_testing::process::{clean_command, run, texts, workspace};

/// Threads of a block, and of the grid of the kernel `reverse`; all others have one block.
const BLOCK: usize = 64;
const ALL: usize = 256;

fn client() -> Option<&'static Path> {
    static CLIENT: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        let mut sources = with_interpreter();
        sources.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/client.cc"));
        build(Product::Program, Sanitizer::None, &sources, &[])
    });
    CLIENT.as_deref()
}

/// A module with one kernel, which sets registers and then runs `body`. %r1 and %r2 are the thread's number in the
/// block and in the grid. %rd1 and %rd2 are the addresses of two arrays of `ALL` words; the second array holds 0, 1, 2
/// ... %rd4 and %rd5 are the addresses of the thread's own words in them.
fn module(name: &str, body: &str) -> String {
    format!(
        "
.version 8.1
.target sm_60
.address_size 64
.visible .entry {name}(
	.param .align 8 .b8 {name}_param_0[24]
)
.maxntid 256, 1, 1
{{
	.reg .pred 	%p<9>;
	.reg .b16 	%rs<9>;
	.reg .f32 	%f<9>;
	.reg .b32 	%r<20>;
	.reg .f64 	%fd<9>;
	.reg .b64 	%rd<20>;
	.shared .align 8 .b8 piece[512];

	ld.param.u64 	%rd1, [{name}_param_0];
	ld.param.u64 	%rd2, [{name}_param_0+8];
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mad.lo.s32 	%r2, %r3, %r4, %r1;
	mul.wide.u32 	%rd3, %r2, 4;
	add.s64 	%rd4, %rd1, %rd3;
	add.s64 	%rd5, %rd2, %rd3;
	mul.wide.u32 	%rd6, %r1, 4;
	mov.u64 	%rd7, piece;
	add.s64 	%rd8, %rd7, %rd6;
{body}
	ret;
}}
"
    )
}

/// What the client prints, and the driver's log. Behind the kernel's name may stand a number for the client.
fn ask(name: &str, body: &str, settings: &[(&str, &str)]) -> Option<(Vec<i64>, Log)> {
    let kernel = name.split(' ').next().unwrap_or(name);
    ask_module(name, &module(kernel, body), settings)
}

fn ask_module(name: &str, text: &str, settings: &[(&str, &str)]) -> Option<(Vec<i64>, Log)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let place = |what: &str| workspace().join(format!("interpreter-{number}.{what}"));
    let program = client()?.join("program");
    std::fs::write(place("ptx"), text).expect("the target folder is writable");
    let mut command = clean_command(program, settings);
    command.env("FAKE_CUDA_LOG", place("log"));
    command.env("PTX", place("ptx")).args(name.split(' '));
    let output = run(&mut command);
    let (out, err) = texts(&output);
    assert!(output.status.success() && err.is_empty(), "{text}\n{err}");
    let numbers = out.split_whitespace().filter_map(|w| w.parse().ok());
    Some((numbers.collect(), Log::read(&place("log"))))
}

/// The words that a correct kernel leaves.
fn words(name: &str, body: &str, settings: &[(&str, &str)]) -> Option<Vec<u32>> {
    let (numbers, log) = ask(name, body, settings)?;
    assert_eq!(log.complaints, [""; 0], "{body}");
    assert_eq!(numbers.len(), 2 + ALL, "{body}\n{numbers:?}");
    Some(numbers[2..].iter().map(|&n| n as u32).collect())
}

fn refused(name: &str, body: &str, why: &str) {
    for order in ["forward", "reverse", "1"] {
        let Some((numbers, log)) = ask(name, body, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        assert!(numbers[0] != 0 || numbers.is_empty(), "{body}");
        let found = log.complaints.join("\n");
        assert!(found.contains(why), "{order}\n{body}\n{found}");
    }
}

const REVERSE: &str = "
	ld.global.u32 	%r5, [%rd5];
	st.shared.u32 	[%rd8], %r5;
	bar.sync 	0;
	mov.u32 	%r6, 63;
	sub.s32 	%r7, %r6, %r1;
	mul.wide.u32 	%rd9, %r7, 4;
	add.s64 	%rd10, %rd7, %rd9;
	ld.shared.u32 	%r8, [%rd10];
	st.global.u32 	[%rd4], %r8;";

#[test]
fn a_barrier_orders_shared_memory() {
    let expected: Vec<u32> = (0..4)
        .flat_map(|b| (0..64).rev().map(move |i| b * 64 + i))
        .collect();
    for order in ["forward", "reverse", "1", "2"] {
        let Some(found) = words("reverse", REVERSE, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        assert_eq!(found, expected, "{order}");
    }
    let without = REVERSE.replace("	bar.sync 	0;\n", "");
    refused("reverse", &without, "");
    let beside = format!("{REVERSE}\n	st.shared.u32 	[%rd8], %r8;");
    refused(
        "reverse",
        &beside,
        "race: a write beside another thread's read",
    );
}

#[test]
fn shared_memory_that_nobody_wrote() {
    let body = "	ld.shared.u32 	%r5, [%rd8];\n	st.global.u32 	[%rd4], %r5;";
    refused("toy", body, "a read of what no thread of the block wrote");
    // Half of what is read was written.
    let half = format!(
        "	st.shared.u32 	[%rd8], %r1;\n{}",
        body.replace("u32 	%r5, [%rd8]", "v2.u32 	{%r5, %r6}, [piece+252]")
    );
    refused("toy", &half, "misaligned");
}

#[test]
fn places() {
    for (body, why) in [
        ("	st.global.u32 	[%rd4+2], %r1;", "misaligned access"),
        ("	st.global.u32 	[%rd4+1024], %r1;", "out of bounds"),
        ("	ld.global.u32 	%r5, [%rd5+-4];", "out of bounds"),
        ("	ld.global.v2.u32 	{%r5, %r6}, [%rd2+1020];", "misaligned"),
        ("	st.shared.u32 	[%rd8+2], %r1;", "misaligned access"),
        ("	st.shared.u32 	[%rd8+512], %r1;", "out of bounds"),
        ("	ld.param.u32 	%r5, [toy_param_0+24];", "out of bounds"),
    ] {
        refused("toy", body, why);
    }
}

#[test]
fn races_in_global_memory() {
    let body = "	st.global.u32 	[%rd1], %r1;";
    refused("toy", body, "race: a write of what thread");
    refused("reverse", body, "race: a write of what thread");
    let reads = "	ld.global.u32 	%r5, [%rd1];\n	st.global.u32 	[%rd4], %r5;";
    refused("reverse", reads, "race: a write of what");
    // After the barrier a thread may read and write a word that a neighbour read before it.
    let behind = "
	xor.b32 	%r5, %r2, 1;
	mul.wide.u32 	%rd9, %r5, 4;
	add.s64 	%rd10, %rd2, %rd9;
	ld.global.u32 	%r6, [%rd10];
	bar.sync 	0;
	ld.global.u32 	%r7, [%rd5];
	st.global.u32 	[%rd5], %r6;
	st.global.u32 	[%rd4], %r7;";
    let Some(found) = words("reverse", behind, &[]) else {
        return;
    };
    assert_eq!(found, (0..ALL as u32).collect::<Vec<_>>());
    let before = behind.replace("	bar.sync 	0;\n", "");
    refused("reverse", &before, "race: a write of what several");
}

/// Each thread leaves its number, the last block adds what the others left.
const LAST: &str = "
	add.s32 	%r5, %r2, 1;
	st.global.u32 	[%rd4], %r5;
	membar.gl;
	bar.sync 	0;
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$MEET;
	atom.global.inc.u32 	%r6, [%rd2], 3;
	st.shared.u32 	[piece], %r6;
$MEET:
	bar.sync 	0;
	ld.shared.u32 	%r7, [piece];
	setp.ne.s32 	%p2, %r7, 3;
	@%p2 bra 	$END;
	membar.gl;
	add.s64 	%rd11, %rd1, %rd6;
	ld.global.cg.u32 	%r8, [%rd11];
	ld.global.cg.u32 	%r9, [%rd11+256];
	ld.global.cg.u32 	%r10, [%rd11+512];
	ld.global.cg.u32 	%r11, [%rd11+768];
	add.s32 	%r12, %r8, %r9;
	add.s32 	%r13, %r10, %r11;
	add.s32 	%r14, %r12, %r13;
	bar.sync 	0;
	st.global.u32 	[%rd11], %r14;
$END:";

#[test]
fn the_last_block_sees_what_the_others_left_behind_fences_only() {
    for order in ["forward", "reverse", "1", "2", "3"] {
        let Some(found) = words("reverse", LAST, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        let sum = |i: usize| (4 * (i + 1) + 64 * 6) as u32;
        assert!((0..BLOCK).all(|i| found[i] == sum(i)), "{order}: {found:?}");
        assert_eq!(
            found[BLOCK..],
            (BLOCK..ALL).map(|i| i as u32 + 1).collect::<Vec<_>>()
        );
    }
    let without = |what: &str, from: &str| {
        let (before, after) = LAST.split_once(from).expect("it is there");
        format!("{before}{from}{}", after.replacen(what, "", 1))
    };
    for from in ["st.global.u32", "setp.ne.s32 	%p2"] {
        refused(
            "reverse",
            &without("	membar.gl;\n", from),
            "race: a read of what thread",
        );
    }
    refused(
        "reverse",
        &without("	bar.sync 	0;\n", "st.global"),
        "race: a read of what thread",
    );
    refused(
        "reverse",
        &LAST.replace(".cg", ""),
        "through the multiprocessor's cache",
    );
    let unordered = LAST.replace("atom.global.inc.u32 	%r6, [%rd2], 3;", "mov.u32 	%r6, 3;");
    refused("reverse", &unordered, "race: ");
}

#[test]
fn threads_that_part_at_a_barrier() {
    let body = "
	setp.lt.u32 	%p1, %r1, 10;
	@%p1 bra 	$OVER;
	bar.sync 	0;
$OVER:";
    refused("toy", body, "54 of 64 threads wait at line");
}

/// What a shuffle, and its predicate, give to the lanes of a warp if lane i contributes 100 + i.
#[test]
fn lanes_of_a_warp_exchange_words() {
    let body = |shuffle: &str| {
        format!(
            "
	add.s32 	%r5, %r1, 100;
	mov.u32 	%r6, 3;
	shfl.sync.{shuffle}, -1;
	selp.b32 	%r8, 1000, 0, %p1;
	add.s32 	%r9, %r7, %r8;
	st.global.u32 	[%rd4], %r9;"
        )
    };
    let lane = |i: usize| i as i32 % 32;
    type From = fn(i32) -> i32;
    // The whole warp as one segment, and segments of 8 lanes: 31 - 7 in the bits from 8 on.
    let cases: [(&str, From, i32); 7] = [
        ("bfly.b32 	%r7|%p1, %r5, %r6, 31", |l| l ^ 3, 32),
        ("up.b32 	%r7|%p1, %r5, %r6, 0", |l| l - 3, 32),
        ("down.b32 	%r7|%p1, %r5, %r6, 31", |l| l + 3, 32),
        ("idx.b32 	%r7|%p1, %r5, %r6, 31", |_| 3, 32),
        ("up.b32 	%r7|%p1, %r5, 3, 6144", |l| l - 3, 8),
        ("down.b32 	%r7|%p1, %r5, 3, 6175", |l| l + 3, 8),
        ("idx.b32 	%r7|%p1, %r5, 3, 6175", |l| l / 8 * 8 + 3, 8),
    ];
    for (shuffle, from, segment) in cases {
        for order in ["forward", "reverse", "1", "2", "3"] {
            let settings = [("FAKE_CUDA_ORDER", order)];
            let Some(found) = words("reverse", &body(shuffle), &settings) else {
                return;
            };
            let expected = (0..ALL).map(|i| {
                let (mine, other) = (lane(i), from(lane(i)));
                let inside = other.div_euclid(segment) == mine.div_euclid(segment);
                let got = if inside { other } else { mine };
                (100 + (i % BLOCK) as i32 - mine + got + 1000 * i32::from(inside)) as u32
            });
            assert_eq!(found, expected.collect::<Vec<_>>(), "{order}: {shuffle}");
        }
    }
    let without = body("bfly.b32 	%r7, %r5, %r6, 31").replace(", %p1;", ", 0;");
    let found = words("reverse", &without, &[]).expect("g++ was here");
    assert_eq!(found[0], 103);
}

#[test]
fn lanes_that_miss_a_shuffle() {
    let body = "
	setp.lt.u32 	%p1, %r1, 10;
	@%p1 bra 	$OVER;
	shfl.sync.bfly.b32 	%r7|%p2, %r1, 1, 31, MEMBERS;
$OVER:";
    refused(
        "toy",
        &body.replace("MEMBERS", "-1"),
        "lane 0 is not at this shuffle",
    );
    refused(
        "toy",
        &body.replace("MEMBERS", "1"),
        "a shuffle among others",
    );
    let at_two_places = "
	setp.lt.u32 	%p1, %r1, 10;
	@%p1 bra 	$OTHER;
	shfl.sync.bfly.b32 	%r7|%p2, %r1, 1, 31, -1;
	bra.uni 	$OVER;
$OTHER:
	shfl.sync.bfly.b32 	%r7|%p2, %r1, 1, 31, -1;
$OVER:";
    refused("toy", at_two_places, "is not at this shuffle");
    let beside = "
	setp.lt.u32 	%p1, %r1, 32;
	@!%p1 bra 	$OVER;
	and.b32  	%r5, %r1, 31;
	setp.lt.u32 	%p1, %r5, 16;
	@!%p1 bra 	$OVER;
	shfl.sync.bfly.b32 	%r7|%p2, %r1, 16, 31, 65535;
$OVER:";
    refused("toy", beside, "a lane that is not in the shuffle");
    refused(
        "toy",
        "	shfl.sync.bfly.f32 	%f1|%p2, %f2, 1, 31, -1;",
        "the interpreter does not know",
    );
}

/// Four blocks of a cooperative launch: each thread writes its word of the second array, all wait for each other, and each reads
/// the word of a thread of another block. Word 0 counts the blocks that have come.
const TOGETHER: &str = "
	setp.eq.s32 	%p1, %r2, 0;
	add.s32 	%r5, %r2, 1000;
	@!%p1 st.global.u32 	[%rd5], %r5;
	membar.gl;
	bar.sync 	0;
	setp.ne.s32 	%p2, %r1, 0;
	@%p2 bra 	$WAITED;
	atom.global.add.u32 	%r6, [%rd2], 1;
$SPIN:
	atom.global.add.u32 	%r6, [%rd2], 0;
	setp.lt.u32 	%p3, %r6, 4;
	@%p3 bra 	$SPIN;
$WAITED:
	bar.sync 	0;
	membar.gl;
	mov.u32 	%r7, 255;
	sub.s32 	%r8, %r7, %r2;
	max.s32 	%r8, %r8, 1;
	mul.wide.u32 	%rd9, %r8, 4;
	add.s64 	%rd10, %rd2, %rd9;
	ld.global.cg.u32 	%r9, [%rd10];
	st.global.u32 	[%rd4], %r9;";

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let expected: Vec<u32> = (0..ALL as u32).map(|i| 1000 + (255 - i).max(1)).collect();
    for order in ["forward", "reverse", "1", "2", "3"] {
        let Some(found) = words("together 4", TOGETHER, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        assert_eq!(found, expected, "{order}");
    }
    // The writer's fence and the reader's.
    for fence in ["	membar.gl;\n	bar.sync 	0;", "	bar.sync 	0;\n	membar.gl;"] {
        let without = TOGETHER.replace(fence, "	bar.sync 	0;");
        assert_ne!(without, TOGETHER);
        refused("together 4", &without, "race: a read of what thread ");
    }
    let cached = TOGETHER.replace("ld.global.cg.", "ld.global.");
    refused("together 4", &cached, "the multiprocessor's cache");
    // Without a barrier of the first block.
    let unordered = TOGETHER.replace("	@%p2 bra 	$WAITED;", "	bra.uni 	$WAITED;");
    refused("together 4", &unordered, "race: ");
}

/// Blocks of 64 threads with 64 registers each: 16 on each of four multiprocessors.
#[test]
fn cooperative_launches_have_a_limit() {
    let code = |name: &str, settings: &[(&str, &str)]| {
        let (numbers, log) = ask(name, "", settings)?;
        assert_eq!(log.complaints, [""; 0]);
        Some(numbers[0])
    };
    for (name, settings, expected) in [
        ("together 64", &[][..], 0),
        ("together 65", &[], 720),
        ("together 32", &[("FAKE_CUDA_REGISTERS", "128")], 0),
        ("together 33", &[("FAKE_CUDA_REGISTERS", "128")], 720),
        ("together 1", &[("FAKE_CUDA_COOPERATES", "0")], 801),
    ] {
        match code(name, settings) {
            Some(found) => assert_eq!(found, expected, "{name} {settings:?}"),
            None => return,
        }
    }
}

/// A kernel of several parameters: the client's structure in parts.
#[test]
fn parameters_one_by_one() {
    let whole = module("reverse", REVERSE);
    let apart = whole
        .replace(
            ".param .align 8 .b8 reverse_param_0[24]",
            ".param .align 8 .b8 reverse_param_0[8],\n	.param .u64 reverse_param_1,\n	.param .u32 reverse_param_2,\n	.param .u32 reverse_param_3",
        )
        .replace("[reverse_param_0+8]", "[reverse_param_1]");
    assert_ne!(whole, apart);
    let Some((numbers, log)) = ask_module("reverse", &apart, &[]) else {
        return;
    };
    assert_eq!(log.complaints, [""; 0]);
    assert_eq!(
        Some(&numbers[2..]),
        ask("reverse", REVERSE, &[]).as_ref().map(|w| &w.0[2..])
    );
}

/// Words 0 to 255 are the bits of denormal numbers.
#[test]
fn denormal_numbers_are_flushed_where_the_opcode_says_so() {
    let one = |opcode: &str| {
        format!("	ld.global.f32 	%f1, [%rd5];\n	{opcode};\n	st.global.f32 	[%rd4], %f2;")
    };
    let zero = vec![0; ALL];
    let same: Vec<u32> = (0..ALL as u32).collect();
    // 2^23 is the least normal number, and twice a denormal one of that size is no denormal.
    for (opcode, expected) in [
        ("mul.rn.ftz.f32 	%f2, %f1, 0f3F800000", &zero),
        ("mul.rn.f32 	%f2, %f1, 0f3F800000", &same),
        ("mul.rn.ftz.f32 	%f2, %f1, 0f7F000000", &zero),
        ("add.rn.ftz.f32 	%f2, %f1, %f1", &zero),
        ("min.ftz.f32 	%f2, %f1, 0f3F800000", &zero),
        ("min.f32 	%f2, %f1, 0f3F800000", &same),
        ("abs.ftz.f32 	%f2, %f1", &zero),
        ("abs.f32 	%f2, %f1", &same),
        ("fma.rn.ftz.f32 	%f2, %f1, 0f3F800000, 0f00000000", &zero),
        ("fma.rn.f32 	%f2, %f1, 0f3F800000, 0f00000000", &same),
    ] {
        let Some(found) = words("reverse", &one(opcode), &[]) else {
            return;
        };
        assert_eq!(&found, expected, "{opcode}");
    }
    // A result that is too small, of operands that are not: 2^-100 x 2^-40.
    let small = one("mul.rn.ftz.f32 	%f2, 0f0D800000, 0f2B800000");
    assert_eq!(words("reverse", &small, &[]), Some(zero.clone()));
    let kept = small.replace(".ftz", "");
    assert_eq!(words("reverse", &kept, &[]), Some(vec![1 << 9; ALL]));
}

#[test]
fn rounding_that_ptxas_may_choose_is_refused() {
    for opcode in [
        "mul.f32 	%f2, %f1, %f1",
        "add.ftz.f32 	%f2, %f1, %f1",
        "mul.rn.ftz.f64 	%fd2, %fd1, %fd1",
    ] {
        refused(
            "toy",
            &format!("	{opcode};"),
            "the interpreter does not know",
        );
    }
}

/// Each thread makes as many turns as its number says, so that all leave the loop at different times.
#[test]
fn threads_part_and_meet_again() {
    let body = "
	mov.u32 	%r5, %r1;
	mov.u32 	%r6, 0;
$TURN:
	setp.eq.s32 	%p1, %r5, 0;
	@%p1 bra 	$DONE;
	add.s32 	%r6, %r6, %r5;
	sub.s32 	%r5, %r5, 1;
	bra.uni 	$TURN;
$DONE:
	bar.sync 	0;
	st.global.u32 	[%rd4], %r6;";
    for order in ["forward", "reverse", "1"] {
        let Some(found) = words("reverse", body, &[("FAKE_CUDA_ORDER", order)]) else {
            return;
        };
        let expected: Vec<u32> = (0..ALL as u32).map(|i| i % 64 * (i % 64 + 1) / 2).collect();
        assert_eq!(found, expected, "{order}");
    }
}

/// Numbers from -64 to 63.5 in steps of 1/2 lose their fraction; those beyond the integers become the nearest of them.
#[test]
fn numbers_are_truncated() {
    for (scale, factor) in [
        ("0d3FE0000000000000", 0.5),
        ("0d4190000000000000", 2_f64.powi(26)),
    ] {
        let body = format!(
            "
	cvt.rn.f64.u32 	%fd1, %r2;
	add.rn.f64 	%fd1, %fd1, 0dC060000000000000;
	mul.rn.f64 	%fd1, %fd1, {scale};
	cvt.rzi.s32.f64 	%r5, %fd1;
	st.global.u32 	[%rd4], %r5;"
        );
        let Some(found) = words("reverse", &body, &[]) else {
            return;
        };
        let expected = (0..ALL as i32).map(|i| (factor * f64::from(i - 128)) as i32 as u32);
        assert_eq!(found, expected.collect::<Vec<u32>>());
    }
}

/// Roots of 1, 2 ... 256.
#[test]
fn roots_are_as_wrong_as_the_manual_allows() {
    let body = "
	add.s32 	%r5, %r2, 1;
	cvt.rn.f32.u32 	%f1, %r5;
	rsqrt.approx.ftz.f32 	%f2, %f1;
	st.global.f32 	[%rd4], %f2;";
    let most = |roots: &str| {
        let found = words("reverse", body, &[("FAKE_CUDA_ROOTS", roots)])?;
        let errors = found.iter().enumerate().map(|(i, &bits)| {
            let exact = 1.0 / ((i + 1) as f64).sqrt();
            f64::from(f32::from_bits(bits)) / exact - 1.0
        });
        let errors: Vec<f64> = errors.collect();
        let mean = errors.iter().sum::<f64>() / ALL as f64;
        Some((errors.iter().fold(0.0, |m: f64, e| m.max(e.abs())), mean))
    };
    let (bound, rounding) = (2.0_f64.powf(-22.9), 2.0_f64.powi(-24));
    let Some((exact, _)) = most("exact") else {
        return;
    };
    assert!(exact <= rounding, "{exact:e}");
    for (roots, sign) in [("high", 1.0), ("low", -1.0), ("1", 0.0), ("2", 0.0)] {
        let (worst, mean) = most(roots).expect("g++ was here");
        assert!(worst <= bound && worst > 0.75 * bound, "{roots}: {worst:e}");
        assert!(
            (mean - sign * (bound - rounding)).abs() < 0.2 * bound,
            "{roots}: {mean:e}"
        );
    }
}
