import type { Node } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import {
  type DriverOnNode,
  isOtherDriver,
  nodeWithDriver,
  nodeWithoutDriver,
  withDriver,
  withoutDriver,
  withRoom,
} from './driver-on-node.ts'

const driver: DriverOnNode = { name: 'd', nodeId: 'id', maxVolumes: 0, topology: {} }
const entry = { name: 'd', nodeID: 'id', topologyKeys: [] }
const other = { name: 'other', nodeID: 'x', topologyKeys: [] }

describe('the drivers of a node', () => {
  it.each<[string, Partial<DriverOnNode>, object]>([
    ['come after those of before', {}, entry],
    ['say how many volumes fit', { maxVolumes: 5 }, { ...entry, allocatable: { count: 5 } }],
    ['say no more than can be said', { maxVolumes: 2 ** 40 }, { ...entry, allocatable: { count: 2 ** 31 - 1 } }],
    ['name what tells their places apart', { topology: { z: '1', a: '2' } }, { ...entry, topologyKeys: ['a', 'z'] }],
  ])('%s', (_, more, expected) => {
    expect(withDriver({ drivers: [other] }, { ...driver, ...more })).toEqual({ drivers: [other, expected] })
  })

  it('stay in their order where one says anew how many of its volumes fit', () => {
    const drivers = [{ ...entry, allocatable: { count: 3 } }, other]
    expect(withRoom({ drivers }, { ...driver, maxVolumes: 5 }).drivers).toEqual([
      { ...entry, allocatable: { count: 5 } },
      other,
    ])
    expect(withRoom({ drivers }, driver).drivers).toEqual([entry, other])
    expect(withRoom({ drivers: [other] }, driver).drivers).toEqual([other])
  })

  it('are there once, and go alone', () => {
    const both = withDriver(withDriver({ drivers: [other] }, driver), { ...driver, nodeId: 'new' })
    expect(both.drivers).toEqual([other, { ...entry, nodeID: 'new' }])
    expect(withoutDriver(both, 'd')).toEqual({ drivers: [other] })
  })

  it.each<[string, object, boolean]>([
    ['is the same', {}, false],
    ['has room for others', { allocatable: { count: 1 } }, false],
    ['calls the node something else', { nodeID: 'new' }, true],
    ['has other places', { topologyKeys: ['a'] }, true],
  ])('one that %s', (_, before, isOther) => {
    const spec = { drivers: [{ ...entry, ...before }] }
    expect(isOtherDriver(spec, withDriver(spec, driver), 'd')).toBe(isOther)
  })
})

describe('the Node', () => {
  const node = (annotations?: Record<string, string>, labels?: Record<string, string>): Node =>
    ({ metadata: { name: 'n', annotations, labels } }) as unknown as Node
  const ids = 'csi.volume.kubernetes.io/nodeid'
  const managed = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' }

  it('gets the id that the driver calls it by, and its labels', () => {
    const change = nodeWithDriver(node({ [ids]: '{"x":"1"}' }), { ...driver, topology: { zone: 'a' } })
    expect(change).toEqual({ annotations: { [ids]: '{"d":"id","x":"1"}', ...managed }, labels: { zone: 'a' } })
  })

  it('stays as it is where it has them', () => {
    const there = node({ [ids]: '{"d":"id"}', ...managed }, { zone: 'a' })
    expect(nodeWithDriver(there, { ...driver, topology: { zone: 'a' } })).toBeUndefined()
  })

  it('keeps a label that says something else', () => {
    expect(nodeWithDriver(node({}, { zone: 'b' }), { ...driver, topology: { zone: 'a' } })).toBe(
      'detected topology value collision: driver reported "zone":"a" but existing label is "zone":"b"',
    )
  })

  it('is made good where somebody has written what is no map', () => {
    expect(nodeWithDriver(node({ [ids]: 'x' }), driver)).toMatchObject({ annotations: { [ids]: '{"d":"id"}' } })
  })

  it('loses the id of a driver that has gone, and the annotation with the last', () => {
    expect(nodeWithoutDriver(node({ [ids]: '{"d":"id","x":"1"}' }), 'd')).toEqual({
      annotations: { [ids]: '{"x":"1"}' },
    })
    expect(nodeWithoutDriver(node({ [ids]: '{"d":"id"}' }), 'd')).toEqual({ annotations: { [ids]: null } })
    expect(nodeWithoutDriver(node({}), 'd')).toBeUndefined()
  })
})
