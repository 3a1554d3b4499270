"""REBOUND with kirin's forces: 300 planetesimals stir each other, and their eccentricities grow."""
import kirin.rebound
import matplotlib.pyplot as plt
import numpy as np
import rebound

random, n = np.random.default_rng(3), 300
sim = rebound.Simulation()
sim.add(m=1.0)
for a, f in zip(random.uniform(0.95, 1.05, n), random.uniform(0.0, 2 * np.pi, n)):
    sim.add(m=1e-7, a=a, f=f, e=1e-4, inc=1e-4 * random.uniform())
sim.integrator, sim.dt, sim.softening = "leapfrog", 2 * np.pi / 100, 1e-3
kirin.rebound.attach(sim)

years, eccentricity = np.arange(11), []
start = sim.energy()
for year in years:
    sim.integrate(2 * np.pi * year)
    eccentricity.append(np.sqrt(np.mean([orbit.e**2 for orbit in sim.orbits()])))
error = abs(sim.energy() / start - 1.0)

plt.plot(years, eccentricity, "o-")
plt.xlabel("years")
plt.ylabel("rms eccentricity")
plt.savefig("planetesimals.png")
