import { expect, it } from 'vitest'
import { NodeInfo } from './node-info.ts'
import { makeNode } from './testing/objects.ts'
import { interleaveZones, zoneOf } from './zones.ts'

it.each<[Readonly<Record<string, string>>, string]>([
  [{}, ''],
  [{ 'topology.kubernetes.io/zone': 'a' }, '/a'],
  [{ 'topology.kubernetes.io/region': 'eu' }, 'eu/'],
  [{ 'topology.kubernetes.io/region': 'eu', 'topology.kubernetes.io/zone': 'a' }, 'eu/a'],
  [{ 'failure-domain.beta.kubernetes.io/region': 'eu', 'failure-domain.beta.kubernetes.io/zone': 'a' }, 'eu/a'],
  [{ 'failure-domain.beta.kubernetes.io/zone': 'old', 'topology.kubernetes.io/zone': 'new' }, '/new'],
])('the zone of a node with %j is "%s"', (labels, zone) => {
  expect(zoneOf(makeNode({ labels }))).toBe(zone)
})

it.each<[string, string, string]>([
  ['none at all', '', ''],
  ['those without a zone, which are one', 'p q r', 'p q r'],
  ['zones alike', 'a1 a2 b1 b2', 'a1 b1 a2 b2'],
  ['zones of different sizes', 'a1 a2 a3 b1 c1 c2', 'a1 b1 c1 a2 c2 a3'],
  ['zones and those without', 'a1 a2 p q', 'a1 p a2 q'],
])('nodes are taken from zones in turn: %s', (_, given, taken) => {
  const nodes = given.split(' ').filter(Boolean)
  const infos = nodes.map((name) => {
    const labels = name.length > 1 ? { 'topology.kubernetes.io/zone': name.slice(0, 1) } : {}
    return new NodeInfo(makeNode({ name, labels }))
  })
  expect(
    interleaveZones(infos)
      .map(({ name }) => name)
      .join(' '),
  ).toBe(taken)
})
