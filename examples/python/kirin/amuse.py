"""The gravity of particles at points for AMUSE, as its Bridge wants it: `GravityField`. AMUSE's framework is needed.

>>> from amuse.couple.bridge import CalculateFieldForCodesUsingReinitialize
>>> from kirin.amuse import GravityField
"""

import os

import numpy as np
from amuse.community.interface.common import CommonCode, CommonCodeInterface
from amuse.community.interface.gd import GravityFieldCode
from amuse.community.interface.gd import GravityFieldInterface as FieldAtPoints
from amuse.rfi.core import LegacyFunctionSpecification, PythonCodeInterface, legacy_function
from amuse.units import nbody_system

from ._gravity import Gravity
from ._handle import PRECISIONS

_WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers", "gravity_field")

_OK, _NO_PARTICLE, _NOT_POSSIBLE = 0, -1, -2


class Field:
    """What the worker does: sources, and their gravity at points, with G = 1."""

    def __init__(self):
        self._precision = "double"
        self.initialize_code()

    def initialize_code(self):
        self._eps2 = 0.0
        return self.cleanup_code()

    def cleanup_code(self):
        # In ascending order, so that they can be searched.
        self._index = np.empty(0, np.int32)
        self._m = np.empty(0)
        self._x = np.empty((0, 3))
        self._next = 0
        self._gravity = None
        return _OK

    def commit_parameters(self):
        return _OK

    recommit_parameters = commit_particles = recommit_particles = commit_parameters

    def get_eps2(self, epsilon_squared):
        epsilon_squared.value = self._eps2
        return _OK

    def set_eps2(self, epsilon_squared):
        if not 0.0 <= epsilon_squared < np.inf:
            return _NOT_POSSIBLE
        self._eps2 = float(epsilon_squared)
        return _OK

    def get_precision(self, precision):
        precision.value = self._precision
        return _OK

    def set_precision(self, precision):
        if precision not in PRECISIONS:
            return _NOT_POSSIBLE
        self._precision = str(precision)
        self._gravity = None
        return _OK

    def new_particle(self, index_of_the_particle, mass, x, y, z, npoints):
        new = np.arange(self._next, self._next + npoints, dtype=np.int32)
        self._next += npoints
        self._index = np.concatenate([self._index, new])
        self._m = np.concatenate([self._m, mass])
        self._x = np.concatenate([self._x, np.column_stack([x, y, z])])
        self._gravity = None
        index_of_the_particle.value = new
        return _OK

    def delete_particle(self, index_of_the_particle, npoints):
        rows = self._rows(index_of_the_particle)
        if rows is None:
            return _NO_PARTICLE
        self._index, self._m = np.delete(self._index, rows), np.delete(self._m, rows)
        self._x = np.delete(self._x, rows, axis=0)
        if not len(self._index):
            # Bridge may remove and add all particles for each force: the numbers would come to an end.
            self._next = 0
        self._gravity = None
        return _OK

    def get_mass(self, index_of_the_particle, mass, npoints):
        return self._get(index_of_the_particle, (mass,), self._m[:, None])

    def set_mass(self, index_of_the_particle, mass, npoints):
        return self._set(index_of_the_particle, (mass,), self._m[:, None])

    def get_position(self, index_of_the_particle, x, y, z, npoints):
        return self._get(index_of_the_particle, (x, y, z), self._x)

    def set_position(self, index_of_the_particle, x, y, z, npoints):
        return self._set(index_of_the_particle, (x, y, z), self._x)

    def get_potential_energy(self, potential_energy):
        pot = self._sources().potentials(eps=self._eps2**0.5)
        potential_energy.value = 0.5 * float(self._m @ pot)
        return _OK

    def get_gravity_at_point(self, eps, x, y, z, ax, ay, az, npoints):
        acc = self._sources().accelerations(np.column_stack([x, y, z]), eps=self._softening(eps))
        ax.value, ay.value, az.value = acc.T
        return _OK

    def get_potential_at_point(self, eps, x, y, z, phi, npoints):
        points, eps = np.column_stack([x, y, z]), self._softening(eps)
        forces = self._sources().forces(points, eps=eps, potential=True, nearest=True)
        # Without the particles at the very place of a point, as in AMUSE's FastKick.
        phi.value = forces.pot
        same = forces.distance == 0.0
        if same.any():
            phi.value[same] = self._potentials_of_others(points[same], eps[same], forces.nearest[same])
        return _OK

    def _potentials_of_others(self, points, eps, nearest):
        """Potentials at points where there are particles, of which `nearest` is one of each: without those."""
        others = self._sources().forces(points, eps=eps, source=nearest, potential=True, nearest=True)
        pot, same = others.pot, others.distance == 0.0
        if same.any():
            # Several particles at one place: as one particle they can be left out together.
            points, eps = points[same], eps[same]
            x, place = np.unique(self._x, axis=0, return_inverse=True)
            with Gravity(x, np.bincount(place.reshape(-1), self._m), precision=self._precision) as places:
                nearest = places.forces(points, nearest=True).nearest
                pot[same] = places.potentials(points, eps=eps, source=nearest)
        return pot

    def _softening(self, eps):
        return np.sqrt(self._eps2 + eps * eps)

    def _sources(self):
        if self._gravity is None:
            self._gravity = Gravity(self._x, self._m, precision=self._precision)
        return self._gravity

    def _rows(self, index):
        """Where the particles with these indices are; None if there is one that does not exist."""
        rows = np.searchsorted(self._index, index)
        there = rows < len(self._index)
        if not there.all() or (self._index[rows] != index).any():
            return None
        return rows

    def _get(self, index, values, of):
        rows = self._rows(index)
        if rows is None:
            for value in values:
                value.value = np.zeros(len(index))
            return _NO_PARTICLE
        for value, column in zip(values, of.T):
            value.value = column[rows]
        return _OK

    def _set(self, index, values, of):
        rows = self._rows(index)
        if rows is None:
            return _NO_PARTICLE
        for column, value in zip(of.T, values):
            column[rows] = value
        self._gravity = None
        return _OK


def _call(*parameters, array=True):
    """A function of the interface. Parameters are (name, type, "in" or "out", unit)."""
    specification = LegacyFunctionSpecification()
    specification.must_handle_array = array
    for name, dtype, way, unit in parameters:
        direction = specification.IN if way == "in" else specification.OUT
        specification.addParameter(name, dtype=dtype, direction=direction, unit=unit)
    if array:
        specification.addParameter("npoints", dtype="int32", direction=specification.LENGTH)
    specification.result_type = "int32"
    return specification


def _index(way):
    return ("index_of_the_particle", "int32", way, None)


def _mass(way):
    return ("mass", "float64", way, nbody_system.mass)


def _position(way):
    return [(c, "float64", way, nbody_system.length) for c in "xyz"]


class GravityFieldInterface(PythonCodeInterface, CommonCodeInterface, FieldAtPoints):
    """The gravity of particles at points, computed by kirin: without units."""

    def __init__(self, **options):
        options.setdefault("use_python_interpreter", True)
        PythonCodeInterface.__init__(self, name_of_the_worker=_WORKER, **options)

    @legacy_function
    def new_particle():
        return _call(_index("out"), _mass("in"), *_position("in"))

    @legacy_function
    def delete_particle():
        return _call(_index("in"))

    @legacy_function
    def commit_particles():
        return _call(array=False)

    @legacy_function
    def recommit_particles():
        return _call(array=False)

    @legacy_function
    def get_mass():
        return _call(_index("in"), _mass("out"))

    @legacy_function
    def set_mass():
        return _call(_index("in"), _mass("in"))

    @legacy_function
    def get_position():
        return _call(_index("in"), *_position("out"))

    @legacy_function
    def set_position():
        return _call(_index("in"), *_position("in"))

    @legacy_function
    def get_eps2():
        return _call(("epsilon_squared", "float64", "out", nbody_system.length**2), array=False)

    @legacy_function
    def set_eps2():
        return _call(("epsilon_squared", "float64", "in", nbody_system.length**2), array=False)

    @legacy_function
    def get_precision():
        return _call(("precision", "string", "out", None), array=False)

    @legacy_function
    def set_precision():
        return _call(("precision", "string", "in", None), array=False)

    @legacy_function
    def get_potential_energy():
        return _call(("potential_energy", "float64", "out", nbody_system.energy), array=False)


class GravityField(CommonCode, GravityFieldCode):
    """The gravity of `particles` at points, for AMUSE's Bridge.

    The pairs are softened by `parameters.epsilon_squared` and by the `eps` of each point, added in squares.
    `parameters.precision` is "double", or another name that `kirin.Gravity` knows.
    """

    def __init__(self, unit_converter=None, **options):
        self.unit_converter = unit_converter
        CommonCode.__init__(self, GravityFieldInterface(**options), **options)

    def define_state(self, handler):
        CommonCode.define_state(self, handler)
        handler.add_transition("END", "INITIALIZED", "initialize_code", False)
        handler.add_transition("INITIALIZED", "EDIT", "commit_parameters")
        handler.add_transition("EDIT", "RUN", "commit_particles")
        # Particles and parameters may change at any time: the worker sends the sources to the library when it is asked for forces.
        for state in ("EDIT", "RUN"):
            for method in ("before_get_parameter", "before_set_parameter", "new_particle", "delete_particle"):
                handler.add_method(state, method)
            for method in ("get_mass", "set_mass", "get_position", "set_position"):
                handler.add_method(state, method)
        GravityFieldCode.define_state(self, handler)
        handler.add_method("RUN", "get_potential_energy")

    def define_methods(self, handler):
        CommonCode.define_methods(self, handler)
        length, mass = nbody_system.length, nbody_system.mass
        handler.add_method("new_particle", (mass, length, length, length), (handler.INDEX, handler.ERROR_CODE))
        handler.add_method("delete_particle", (handler.INDEX,), (handler.ERROR_CODE,))
        handler.add_method("get_mass", (handler.INDEX,), (mass, handler.ERROR_CODE))
        handler.add_method("set_mass", (handler.INDEX, mass), (handler.ERROR_CODE,))
        handler.add_method("get_position", (handler.INDEX,), (length, length, length, handler.ERROR_CODE))
        handler.add_method("set_position", (handler.INDEX, length, length, length), (handler.ERROR_CODE,))
        handler.add_method("get_eps2", (), (length**2, handler.ERROR_CODE))
        handler.add_method("set_eps2", (length**2,), (handler.ERROR_CODE,))
        handler.add_method("commit_particles", (), (handler.ERROR_CODE,))
        handler.add_method("recommit_particles", (), (handler.ERROR_CODE,))

    def define_parameters(self, handler):
        handler.add_method_parameter(
            "get_eps2", "set_eps2", "epsilon_squared", "square of the softening length of all pairs",
            default_value=0.0 | nbody_system.length**2,
        )
        handler.add_method_parameter(
            "get_precision", "set_precision", "precision", f"one of {', '.join(PRECISIONS)}", default_value="double"
        )

    def define_particle_sets(self, handler):
        handler.define_set("particles", "index_of_the_particle")
        handler.set_new("particles", "new_particle")
        handler.set_delete("particles", "delete_particle")
        handler.add_setter("particles", "set_mass")
        handler.add_getter("particles", "get_mass", names=("mass",))
        handler.add_setter("particles", "set_position")
        handler.add_getter("particles", "get_position", names=("x", "y", "z"))

    def define_properties(self, handler):
        handler.add_property("get_potential_energy")

    def define_converter(self, handler):
        if self.unit_converter is not None:
            handler.set_converter(self.unit_converter.as_converter_from_si_to_generic())

    def commit_parameters(self):
        self.parameters.send_not_set_parameters_to_code()
        self.parameters.send_cached_parameters_to_code()
        self.overridden().commit_parameters()

    def cleanup_code(self):
        self.overridden().cleanup_code()
        self.get_handler("PARTICLES")._cleanup_instances()

    def reset(self):
        parameters = self.parameters.copy()
        self.cleanup_code()
        self.initialize_code()
        self.parameters.reset_from_memento(parameters)
