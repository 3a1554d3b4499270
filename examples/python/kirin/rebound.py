"""Forces of kirin in REBOUND: `attach(sim)`."""

import ctypes
import os

import numpy as np

from . import _library
from ._errors import UnsupportedError, raise_for
from ._gravity import Gravity

# REBOUND's numbers (rebound.h).
_BASIC, _CUSTOM = 1, 7
_GENERIC_ERROR, _SIGINT = 1, 6
_BETWEEN_0_AND_1, _INVOLVING_0 = 1, 2
_ALL_ACTIVE = ctypes.c_size_t(-1).value

# Integrators that take their forces from REBOUND's gravity routine and from nothing else.
_INTEGRATORS = (b"leapfrog", b"ias15", b"bs", b"whfast", b"saba", b"janus", b"sei", b"none")
_OWN_GRAVITY = {
    b"mercurius": "splits the force at the distance of close encounters",
    b"trace": "splits the force at the distance of close encounters",
    b"eos": "splits the force between particle 0 and the others, with the derivatives of REBOUND's own forces",
    b"whfast512": "has forces of its own in its steps",
}

_OFFSETS = ("x", "ax", "m")


def attach(sim, precision="double"):
    """Computes the gravity of a `rebound.Simulation` with kirin, from the next step on.

    Particles, G, softening, N_active, testparticle_type and the integrator are those of the simulation, whenever they
    change. Additional forces are added as before. A copy or a restart of the simulation must be attached again before it
    computes, so `getSimulation` of an archive of it takes the mode "snapshot" only.

    Parameters
    ----------
    sim : rebound.Simulation
        Of REBOUND 5.0 or newer. Its integrator is chosen before.
    precision : str
        As `kirin.Gravity` has it. In "double" forces differ from REBOUND's by rounding only.

    Raises
    ------
    kirin.UnsupportedError
        For the integrators MERCURIUS, TRACE, EOS and WHFast512, kernels and correctors that need the forces of Jacobi
        coordinates, variational particles and ghost boxes. If one of these integrators, kernels and correctors is chosen
        later, it puts REBOUND's own gravity in kirin's place. For the others, and for numbers that are not finite,
        `sim.integrate` then raises a RuntimeError with the reason, and the simulation goes on with REBOUND's own gravity.
    """
    _check_simulation(sim)
    if not getattr(sim, "_simulation_needsfree_", False):
        raise TypeError("sim is what a pointer shows, as in a heartbeat: attach the simulation itself")
    hook = _Hook(sim, precision)
    reason = hook.refusal() or _kernel_refusal(sim)
    if reason:
        raise UnsupportedError(reason)
    kind = dict(type(sim)._fields_)["_gravity_custom"]
    # The structure keeps the function alive.
    sim._gravity_custom = kind(hook)
    sim.gravity = "custom"


def detach(sim):
    """Gives a simulation its own gravity ("basic") back."""
    _check_simulation(sim)
    sim.gravity = "basic"
    sim._gravity_custom = type(sim._gravity_custom)()


def _check_simulation(sim):
    import rebound

    if not isinstance(sim, rebound.Simulation):
        raise TypeError(f"sim has the type {type(sim).__name__}, but a rebound.Simulation is needed")
    if not hasattr(rebound.Simulation, "_gravity_custom"):
        raise UnsupportedError(f"REBOUND {rebound.__version__} takes no gravity from outside: version 5.0 or newer is needed")


def _kernel_refusal(sim):
    """Whether the integrator's settings ask for the forces of Jacobi coordinates."""
    name = sim.integrator.name
    if name == b"whfast" and sim.integrator.kernel in ("MODIFIEDKICK", "LAZY"):
        return "this kernel of WHFast needs REBOUND's forces in Jacobi coordinates: choose the kernel default or composition"
    if name == b"saba" and sim.integrator.type.startswith(("CM_", "CL_")):
        return "SABA's correctors need REBOUND's forces in Jacobi coordinates: choose a type without a corrector"
    return None


class _Sources:
    """The first `count` particles, of which the first `dropped` exert no force."""

    def __init__(self, particles, count, dropped, precision):
        self.gravity = Gravity(precision=precision)
        self.count = count
        self.dropped = min(dropped, count)
        self.masses = particles.numbers("m", count)
        # With G. Zero, and not left out: so messages number particles as REBOUND does.
        self.products = np.zeros(count)
        self.structure = _library.Sources()
        self.structure.mass = self.products.ctypes.data
        self.structure.x, self.structure.x_step = particles.address("x"), particles.size

    def load(self, g):
        np.multiply(self.masses[self.dropped :], g, out=self.products[self.dropped :])
        status = _library.set_sources(self.gravity._handle, self.count, ctypes.byref(self.structure))
        if status < 0:
            raise_for(status)


class _Targets:
    """Particles `first` to `last` - 1, on which all the sources act."""

    def __init__(self, particles, first, last, sources):
        self.sources = sources
        self.count = last - first
        # Which source a target is; -1: none.
        self.index = np.arange(first, last)
        self.index[self.index >= sources.count] = -1
        self.structure = _library.Targets()
        self.structure.x, self.structure.x_step = particles.address("x", first), particles.size
        self.structure.source = self.index.ctypes.data
        self.results = _library.Results()
        self.results.acc, self.results.acc_step = particles.address("ax", first), particles.size

    def compute(self, eps2):
        handle = self.sources.gravity._handle
        status = _library.forces(
            handle, 0.0, eps2, self.count, ctypes.byref(self.structure), ctypes.byref(self.results)
        )
        if status < 0:
            raise_for(status)


class _Particles:
    """REBOUND's array of particles."""

    def __init__(self, kind, at):
        self.size = ctypes.sizeof(kind)
        self.offsets = {name: getattr(kind, name).offset for name in _OFFSETS}
        self.at = at

    def address(self, name, k=0):
        return self.at + self.size * k + self.offsets[name]

    def numbers(self, name, count):
        """One number of each particle, where it lies."""
        if count == 0:
            return np.empty(0)
        bytes_of = (ctypes.c_char * (self.size * count)).from_address(self.at)
        return np.ndarray((count,), np.float64, bytes_of, self.offsets[name], (self.size,))


def _pairs(n, active, both_ways, ignored):
    """Who acts on whom: (first target, last target, number of sources, sources that are dropped). Later ones count."""
    dropped = 1 if ignored == _INVOLVING_0 else 0
    if both_ways and active < n:
        groups = [(0, active, n), (active, n, active)]
    else:
        groups = [(0, n, active)]
    pairs = [(first, last, count, dropped) for first, last, count in groups]
    if ignored == _BETWEEN_0_AND_1:
        pairs += [(first, min(last, 2), count, 2) for first, last, count in groups]
    if ignored == _INVOLVING_0:
        pairs.append((0, min(n, 1), 0, 0))
    return [pair for pair in pairs if pair[0] < pair[1]]


class _Hook:
    """REBOUND's custom gravity routine. The numbers are read where the simulation has them."""

    def __init__(self, sim, precision):
        import rebound

        self._library = rebound.clibrebound
        self._particle = rebound.Particle
        self._precision = precision
        # Refuses a wrong precision now.
        Gravity(precision=precision).close()
        at, kind = ctypes.addressof(sim), type(sim)
        self._sim = ctypes.c_void_p(at)

        def number(name, c):
            return c.from_address(at + getattr(kind, name).offset)

        self._n, self._active = number("N", ctypes.c_size_t), number("N_active", ctypes.c_size_t)
        self._at, self._map = number("_particles", ctypes.c_void_p), number("_map", ctypes.c_void_p)
        self._g, self._softening = number("G", ctypes.c_double), number("softening", ctypes.c_double)
        self._both_ways = number("testparticle_type", ctypes.c_int)
        self._ignored = number("gravity_ignore", ctypes.c_int)
        self._variations = number("N_var", ctypes.c_size_t)
        self._ghosts = [number(f"N_ghost_{c}", ctypes.c_int) for c in "xyz"]
        self._integrator = number("integrator", ctypes.c_char_p)
        self._gravity, self._status = number("_gravity", ctypes.c_int), number("_status", ctypes.c_int)
        self._additional = number("_additional_forces", ctypes.c_void_p)
        self._key, self._sources, self._targets = None, [], []

    def __call__(self, _):
        try:
            reason = self.refusal()
            if reason is None:
                self._compute()
                if self._additional.value:
                    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._additional.value)(self._sim)
                return
        except Exception as error:
            reason = str(error)
        except BaseException:
            # Ctrl-C, or the end of the program by a signal's handler: REBOUND ends the run after this step, whose force is right.
            self._gravity.value = _BASIC
            self._library.reb_simulation_update_acceleration(self._sim)
            self._gravity.value, self._status.value = _CUSTOM, _SIGINT
            return
        # Nothing is lost: REBOUND's own gravity has this force and the next ones.
        self._gravity.value = _BASIC
        self._library.reb_simulation_update_acceleration(self._sim)
        self._library.reb_simulation_error(self._sim, f"kirin: {reason}".encode())
        self._status.value = _GENERIC_ERROR

    def refusal(self):
        """Why kirin cannot compute the forces of this simulation."""
        name = self._integrator.value
        if name in _OWN_GRAVITY:
            return f"the integrator {name.decode()} is not supported: it {_OWN_GRAVITY[name]}"
        if name not in _INTEGRATORS:
            return f"the integrator {(name or b'?').decode()} is not supported: kirin does not know it"
        if self._variations.value:
            return "variational particles are not supported: kirin has no derivatives of forces by positions"
        if any(ghosts.value for ghosts in self._ghosts):
            return "ghost boxes are not supported"
        if self._map.value:
            return "an integrator that moves some of the particles only is not supported"
        return None

    def _compute(self):
        n = self._n.value
        active = min(self._active.value, n)
        key = (n, self._at.value, active, self._both_ways.value, self._ignored.value, os.getpid())
        if key != self._key:
            self._arrange(*key[:5])
            self._key = key
        g, eps2 = self._g.value, self._softening.value**2
        for sources in self._sources:
            sources.load(g)
        for targets in self._targets:
            targets.compute(eps2)

    def _arrange(self, n, at, active, both_ways, ignored):
        self._key = None
        particles = _Particles(self._particle, at)
        of = {}
        self._targets = []
        for first, last, count, dropped in _pairs(n, active, both_ways, ignored):
            if (count, dropped) not in of:
                of[count, dropped] = _Sources(particles, count, dropped, self._precision)
            self._targets.append(_Targets(particles, first, last, of[count, dropped]))
        self._sources = list(of.values())
