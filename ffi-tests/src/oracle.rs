//! A model of the library that gives the expected result of every call: sections 3 and 7 of the specification in the
//! plainest form. When a block begins, it copies its time, its i-particles and all sources. So no later call changes
//! its results.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::direct::{self, Probe, Source};
use crate::expected::Expected::{self, Anything, Exactly, Near, Refusal};
use crate::expected::{self, Rules, UNTOUCHED};
use crate::script::{Call, Form, Request, Spelling, odd};

/// What one i-particle of a block depends on.
type Register = (Probe, f64);

#[derive(Clone, Default)]
struct Pending {
    nj: i32,
    sources: Vec<Source>,
    ti: f64,
    registers: Vec<Register>,
    owed: bool,
    /// Whether it was begun while another one, of the same sources and time, was owed.
    overtook: bool,
}

impl Pending {
    fn result(&self, rules: Rules, register: &Register) -> ([Expected; 7], Option<(i32, f64)>) {
        expected::force(rules, &self.sources, self.ti, register)
    }

    /// Whether these are its first i-particles, by their labels and positions.
    fn begins_with(&self, registers: &[Register]) -> bool {
        let name = |(probe, _): &Register| (probe.index, probe.x.map(f64::to_bits));
        let first = self.registers.get(..registers.len());
        first.is_some_and(|first| first.iter().map(name).eq(registers.iter().map(name)))
    }
}

#[derive(Default)]
struct Board {
    memory: BTreeMap<i32, Source>,
    ti: f64,
    /// Whether a source was stored since the last block began.
    changed: bool,
    /// Whether the last firsthalf was refused, and no lasthalf was told.
    refused: bool,
    /// Whether the last block was refused: there are no lists.
    no_lists: bool,
    block: Pending,
    nip: usize,
    njp: i32,
    registers: Vec<Register>,
}

impl Board {
    fn begin(&mut self, nj: i32, registers: Vec<Register>) {
        let sources = self.memory.range(..nj).map(|(_, s)| *s).collect();
        (self.refused, self.no_lists) = (false, false);
        let before = &self.block;
        let same = before.nj == nj && before.ti.to_bits() == self.ti.to_bits();
        let overtook = before.owed && same && !self.changed;
        self.changed = false;
        self.block = Pending {
            nj,
            sources,
            ti: self.ti,
            registers,
            owed: true,
            overtook,
        };
    }
}

/// The oracle of one process.
pub struct Oracle {
    rules: Rules,
    spelling: Spelling,
    sorted: i32,
    boards: HashMap<i32, Board>,
    /// The board that an id stands for.
    names: HashMap<i32, i32>,
    /// The ids that had a board of their own.
    own: HashSet<i32>,
}

impl Oracle {
    /// A process that has made no call.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            spelling: Spelling::C,
            sorted: 1,
            boards: HashMap::new(),
            names: HashMap::new(),
            own: HashSet::new(),
        }
    }

    /// The answer to a call; `None` for a change of spelling, which is no call.
    pub fn answer(&mut self, call: &Call) -> Option<Vec<Expected>> {
        Some(match call {
            Call::Spelling(spelling) => {
                self.spelling = *spelling;
                return None;
            }
            Call::Open(id) => {
                let id = self.id(*id);
                if self.names.get(&id) != Some(&id) {
                    self.names.insert(id, id);
                    self.own.insert(id);
                    self.boards.insert(id, Board::default());
                }
                vec![Exactly(0.0)]
            }
            Call::Close(id) => {
                let id = self.id(*id);
                if let Some(&board) = self.names.get(&id) {
                    self.boards.remove(&board);
                    self.names.retain(|_, named| *named != board);
                }
                vec![Exactly(0.0)]
            }
            Call::Npipes => vec![Exactly(self.rules.npipes.into())],
            Call::Time(id, t) => {
                self.board(*id).ti = *t;
                vec![Exactly(0.0)]
            }
            Call::Particle(_, _, _, null) if *null != 0 => vec![Refusal],
            Call::Particle(id, address, source, _) => {
                vec![self.store(*id, *address, self.whole(source))]
            }
            Call::Mass(id, address, index, mass, x) => {
                vec![self.store(*id, *address, at_rest(*index, *mass, *x))]
            }
            Call::Send(_, count, ..) if *count < 0 => vec![Refusal],
            Call::Send(id, count, whole, address, s) => {
                let source = match whole {
                    true => self.whole(s),
                    false => at_rest(s.index, s.mass, s.x),
                };
                let stored = self.store(*id, *address, source);
                // The others get it if they are open; none is opened for it.
                let id = self.id(*id);
                let named: Vec<i32> = self.names.keys().copied().collect();
                for other in named {
                    if other > id && i64::from(other) < i64::from(id) + i64::from(*count) {
                        self.store(other, *address, source);
                    }
                }
                vec![stored]
            }
            Call::First(r) => vec![self.first(r)],
            Call::Last(form, r, fill) => self.last(*form, r, *fill),
            Call::Read(id) => match self.board(*id).no_lists {
                true => vec![Refusal],
                false => vec![Exactly(0.0)],
            },
            Call::Get(id, pipe, most, null) => self.get(*id, *pipe, *most, *null),
            Call::Sort(mode) => {
                self.sorted = *mode;
                vec![Exactly((*mode).into())]
            }
            Call::Nip(id, n) => vec![match usize::try_from(*n) {
                Ok(n) => {
                    self.board(*id).nip = n;
                    Exactly(0.0)
                }
                Err(_) => Refusal,
            }],
            Call::Njp(id, n) if *n < 0 => {
                let _ = id;
                vec![Refusal]
            }
            Call::Njp(id, n) => {
                self.board(*id).njp = *n;
                vec![Exactly(0.0)]
            }
            Call::Probe(id, address, probe, eps2) => {
                let Ok(address) = usize::try_from(*address) else {
                    self.board(*id);
                    return Some(vec![Refusal]);
                };
                let registers = &mut self.board(*id).registers;
                let length = registers.len().max(address + 1);
                registers.resize(length, Register::default());
                registers[address] = (*probe, *eps2);
                vec![Exactly(0.0)]
            }
            Call::Probes(address, r) => match registers(r) {
                Some(new) => {
                    let first = usize::try_from(*address).expect("scripts have legal addresses");
                    let registers = &mut self.board(r.id).registers;
                    let length = registers.len().max(first + new.len());
                    registers.resize(length, Register::default());
                    registers[first..first + new.len()].copy_from_slice(&new);
                    vec![Exactly(0.0)]
                }
                None => vec![Refusal],
            },
            Call::Force(id, ni, etc) => self.force(*id, *ni, *etc),
            Call::Predicted(id, nj) => self.predicted(*id, *nj),
            Call::Memory => vec![Anything],
            Call::Harmless(_) => vec![Exactly(0.0)],
        })
    }

    fn id(&self, id: i32) -> i32 {
        match self.spelling {
            Spelling::NullId | Spelling::All | Spelling::AllFortran => 0,
            _ => id,
        }
    }

    /// The board an id stands for already.
    fn known(&mut self, id: i32) -> Option<&mut Board> {
        let name = self.names.get(&self.id(id))?;
        self.boards.get_mut(name)
    }

    /// The board an id stands for: its own, the sole open one if it never had its own, or a new one.
    fn board(&mut self, id: i32) -> &mut Board {
        let id = self.id(id);
        let board = match self.names.get(&id) {
            Some(&board) => board,
            None if self.boards.len() == 1 && !self.own.contains(&id) => {
                *self.boards.keys().next().expect("there is one")
            }
            None => id,
        };
        self.names.insert(id, board);
        self.own.insert(board);
        self.boards.entry(board).or_default()
    }

    /// A particle as `g6_set_j_particle` stores it.
    fn whole(&self, source: &Source) -> Source {
        let a2by18 = if self.rules.snap {
            source.a2by18
        } else {
            [0.0; 3]
        };
        Source { a2by18, ..*source }
    }

    fn store(&mut self, id: i32, address: i32, source: Source) -> Expected {
        let board = self.board(id);
        if address < 0 {
            return Refusal;
        }
        board.changed = true;
        board.memory.insert(address, source);
        Exactly(0.0)
    }

    fn first(&mut self, r: &Request) -> Expected {
        match registers(r) {
            Some(registers) => {
                self.board(r.id).begin(r.nj, registers);
                Exactly(0.0)
            }
            None => {
                if let Some(board) = self.known(r.id) {
                    (board.refused, board.no_lists) = (true, true);
                    board.block.owed = false;
                }
                Refusal
            }
        }
    }

    fn last(&mut self, form: Form, r: &Request, fill: i32) -> Vec<Expected> {
        let null_outputs = odd::NO_ACC | odd::NO_JERK | odd::NO_POT;
        let null_nearest = form.nearest() && r.odd & odd::NO_NEAREST != 0;
        let illegal =
            r.nj < 0 || r.ni < 0 || r.ni > 0 && (r.odd & null_outputs != 0 || null_nearest);
        let ni = usize::try_from(r.ni).unwrap_or(0);
        let board = match illegal {
            true => self.known(r.id),
            false => Some(self.board(r.id)),
        };
        let told = board.is_some_and(|board| std::mem::take(&mut board.refused));
        let illegal = illegal || told;
        let refused = !illegal && {
            let board = self.board(r.id);
            let registers = registers(r);
            let lost = |registers: &Vec<Register>| !board.block.begins_with(registers);
            let lost = board.block.overtook && registers.as_ref().is_some_and(lost);
            match (board.block.owed && !lost, registers) {
                (true, _) => board.block.registers.len() < ni,
                (false, Some(registers)) => {
                    board.begin(r.nj, registers);
                    false
                }
                (false, None) => true,
            }
        };
        if illegal || refused {
            let mut answer = vec![Refusal];
            (0..=ni).for_each(|_| untouched(&mut answer, Some(form), fill));
            return answer;
        }
        let rules = self.rules;
        let board = self.board(r.id);
        board.block.owed = false;
        let mut answer = vec![Exactly(0.0)];
        for register in &board.block.registers[..ni] {
            let (mut force, nearest) = board.block.result(rules, register);
            if r.odd & odd::SAME != 0 {
                force.copy_within(3..6, 0);
            }
            answer.extend(force);
            if form.nearest() {
                answer.push(Exactly(match (nearest, rules.no_neighbour) {
                    (Some((label, _)), _) => label.into(),
                    (None, Some(none)) => none.into(),
                    (None, None) if fill == -1 => -1.0,
                    (None, None) => 0.0,
                }));
            }
            if form.distance() {
                let distance = nearest.map_or(f64::INFINITY, |(_, r2)| (r2 + register.1).sqrt());
                // Single precision: halfway between two values at most, and infinite beyond 3e38.
                answer.push(if distance.is_nan() {
                    Anything
                } else if distance < f64::from(f32::MAX) {
                    Near(distance, distance * 1e-7)
                } else {
                    Exactly(f64::INFINITY)
                });
            }
        }
        untouched(&mut answer, Some(form), fill);
        answer
    }

    fn get(&mut self, id: i32, pipe: i32, most: i32, null: u32) -> Vec<Expected> {
        if null == 2 {
            return vec![Refusal, Exactly(-77.0), Exactly(-77.0)];
        }
        // Never a failure with a length below the maximum: kira would ask for ever.
        let mut refused = vec![Refusal, Exactly(most.max(0).into()), Exactly(-77.0)];
        refused.extend((0..most).map(|_| Exactly(-77.0)));
        let (Ok(pipe), Ok(room)) = (usize::try_from(pipe), usize::try_from(most)) else {
            return refused;
        };
        if room > 0 && null == 1 {
            return refused;
        }
        let (with_self, sorted) = (self.rules.npipes > 48, self.sorted != 0);
        let board = self.board(id);
        if board.no_lists {
            return refused;
        }
        let block = &board.block;
        let found = match block.registers.get(pipe) {
            Some((p, _)) => direct::neighbours(p, block.sources.iter(), block.ti, with_self),
            None => Vec::new(),
        };
        let copied = found.len().min(room);
        let mut answer = vec![
            Exactly(f64::from(u8::from(found.len() > room))),
            Exactly(copied as f64),
        ];
        answer.extend(found[..copied].iter().map(|&label| match sorted {
            true => Exactly(label.into()),
            false => Anything,
        }));
        answer.push(Exactly(-77.0));
        answer
    }

    fn force(&mut self, id: i32, ni: i32, etc: bool) -> Vec<Expected> {
        let rules = self.rules;
        let board = self.board(id);
        let printed = usize::try_from(ni).expect("scripts print what fits");
        let form = if etc { Form::Nearest } else { Form::Plain };
        let mut answer = vec![Exactly(0.0)];
        let nip = board.nip;
        let refused = nip > board.registers.len();
        if refused {
            answer[0] = Refusal;
        } else {
            board.begin(board.njp, board.registers[..nip].to_vec());
            board.block.owed = false;
        }
        for i in 0..=printed {
            if refused || i >= nip {
                untouched(&mut answer, Some(form), -1);
                continue;
            }
            let (force, nearest) = board.block.result(rules, &board.registers[i]);
            answer.extend(force);
            if etc {
                let none = rules.no_neighbour.unwrap_or(-1);
                answer.push(Exactly(nearest.map_or(none, |n| n.0).into()));
            }
        }
        answer.extend((0..=printed).map(|i| match refused || i >= nip {
            true => Exactly(-77.0),
            false => Exactly(0.0),
        }));
        answer
    }

    fn predicted(&mut self, id: i32, nj: i32) -> Vec<Expected> {
        let mut answer = vec![Refusal];
        if nj >= 0 {
            self.board(id);
            answer[0] = Exactly(0.0);
        }
        for address in 0..nj.max(0) {
            let board = self.board(id);
            match board.memory.get(&address) {
                Some(source) => {
                    let (x, v) = source.predict(board.ti);
                    answer.extend(
                        [x, v]
                            .concat()
                            .iter()
                            .map(|&value| match value.is_finite() {
                                true => Near(value, 1e-12 * (1.0 + value.abs())),
                                false => Anything,
                            }),
                    );
                }
                None => answer.extend([Exactly(0.0); 6]),
            }
        }
        answer.extend([Exactly(UNTOUCHED); 6]);
        answer
    }
}

/// A particle of which mass and position were sent only.
fn at_rest(index: i32, mass: f64, x: [f64; 3]) -> Source {
    Source {
        index,
        mass,
        x,
        ..Default::default()
    }
}

/// An entry that no call may have written to.
fn untouched(answer: &mut Vec<Expected>, form: Option<Form>, fill: i32) {
    answer.extend([Exactly(UNTOUCHED); 7]);
    if form.is_some_and(Form::nearest) {
        answer.push(Exactly(fill.into()));
    }
    if form.is_some_and(Form::distance) {
        answer.push(Exactly(UNTOUCHED));
    }
}

/// The i-particles of a request; `None` if it is to be refused.
fn registers(r: &Request) -> Option<Vec<Register>> {
    let ni = usize::try_from(r.ni).ok()?;
    let null = odd::NO_INDEX | odd::NO_X | odd::NO_V;
    if r.nj < 0 || ni > 0 && r.odd & null != 0 {
        return None;
    }
    let zeros = std::iter::repeat(Probe::default());
    let probes = r.probes.iter().copied().chain(zeros).take(ni);
    Some(
        (1..)
            .zip(probes)
            .map(|(k, mut p)| {
                if r.odd & odd::NO_H2 != 0 {
                    p.h2 = 0.0;
                }
                let each = r.odd & odd::EACH != 0;
                (p, if each { r.eps2 * f64::from(k) } else { r.eps2 })
            })
            .collect(),
    )
}
