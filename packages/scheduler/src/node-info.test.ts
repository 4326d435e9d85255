import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from './node-info.ts'
import { makeNode, makePod } from './testing/objects.ts'

const port = (containerPort: number, more: object = {}) => ({ containerPort, hostPort: containerPort, ...more })
const withPorts = (...ports: object[]): Pod => makePod({ containers: [{ name: 'main', ports: ports as never }] })
const portsOf = ({ hostPorts }: NodeInfo) =>
  [...hostPorts.addresses].flatMap(([key, counts]) => [...counts].map(([ip, count]) => `${key} at ${ip}: ${count}`))

const owned = (name: string, owners: readonly string[], metadata: object = {}): Pod => {
  const pod = makePod({}, name)
  const ownerReferences = owners.map((uid) => ({ apiVersion: 'v1', kind: 'ReplicaSet', name: uid, uid }))
  return { ...pod, metadata: { ...pod.metadata, ownerReferences, ...metadata } }
}

/** What is known beside the versions, in which a node may be compared with one that has never been otherwise. */
const bookOf = (info: NodeInfo) => {
  const { version: _, ...book } = info
  return book
}

describe('the book of a node', () => {
  it('takes over what the node says of itself', () => {
    const info = new NodeInfo(makeNode({ name: 'n', allocatable: { cpu: '2', pods: '5' } }))
    expect([info.name, info.allocatable.milliCpu, info.podsMax, info.zone]).toEqual(['n', 2000, 5, ''])
    const zone = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }
    const version = info.version
    info.setNode(makeNode({ name: 'n', labels: zone, allocatable: { cpu: '3', pods: '6' } }))
    expect([info.allocatable.milliCpu, info.podsMax, info.version > version]).toEqual([3000, 6, true])
    expect(info.zone).toBe(new NodeInfo(makeNode({ labels: zone })).zone)
    info.setNode(makeNode({ name: 'n' }))
    expect(info.zone).toBe('')
  })

  it('has no room for pods where the node has yet to say how many it takes', () => {
    const { status: _, ...silent } = makeNode()
    expect(new NodeInfo(silent).podsMax).toBe(0)
  })

  it('is as before once a pod has come and gone', () => {
    const node = makeNode({ name: 'n' })
    const pods = [
      makePod({ requests: { cpu: '1', memory: '1Gi', 'ephemeral-storage': '1Gi', 'example.com/gpu': '2' } }),
      withPorts(port(80), port(81)),
      makePod({ affinity: { podAffinity: {} } }),
      makePod({ affinity: { podAntiAffinity: {} } }),
      makePod({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }),
      owned('owned', ['one', 'two']),
    ]
    const info = new NodeInfo(node)
    for (const pod of pods) info.add(pod)
    expect([info.podsWithAffinity.size, info.podsWithClaims.size, info.podCount]).toEqual([2, 1, 6])
    expect([info.milliCpu, info.memory, info.ephemeralStorage]).toEqual([1000, 2 ** 30, 2 ** 30])
    expect(info.extended.get('example.com/gpu')).toBe(2)
    expect(bookOf(info.clone())).toEqual(bookOf(info))
    for (const pod of pods) info.remove(pod)
    expect(info.extended.get('example.com/gpu')).toBe(0)
    info.extended.clear()
    expect(bookOf(info)).toEqual(bookOf(new NodeInfo(node)))
  })

  it('knows nothing of a pod that never came', () => {
    const info = new NodeInfo(makeNode())
    const { version } = info
    info.remove(makePod({ requests: { cpu: '1' } }))
    expect([info.milliCpu, info.version]).toEqual([0, version])
  })

  it('has the ports of its pods, and gives back those of the pod that goes', () => {
    const info = new NodeInfo(makeNode())
    const leaving = withPorts(port(80, { protocol: 'UDP' }), port(81, { hostIP: '10.0.0.1' }))
    info.add(withPorts(port(80), port(81)))
    info.add(leaving)
    info.add(withPorts(port(82)))
    const left = portsOf(info).filter((text) => !/UDP|10\.0\.0\.1/.test(text))
    info.remove(leaving)
    expect([left.length, portsOf(info)]).toEqual([3, left])
  })

  it('counts the pods of each owner that are not being deleted, each once', () => {
    const info = new NodeInfo(makeNode())
    info.add(owned('a', ['one', 'one']))
    info.add(owned('b', ['one', 'two']))
    info.add(owned('c', ['two'], { deletionTimestamp: '2026-01-01T00:00:00Z' }))
    expect([...info.podsByOwner]).toEqual([
      ['one', 2],
      ['two', 1],
    ])
    info.update(owned('b', ['one', 'two'], { deletionTimestamp: '2026-01-01T00:00:00Z' }))
    expect([...info.podsByOwner]).toEqual([['one', 1]])
    info.remove(owned('b', ['one', 'two']))
    info.remove(owned('a', ['one', 'one']))
    expect(info.podsByOwner.size).toBe(0)
  })

  it('has a new version with each change that counts, and the newest state of a pod', () => {
    const info = new NodeInfo(makeNode())
    const versions = [info.version]
    const pod = makePod({}, 'a')
    const newer = { ...pod, status: { phase: 'Running' } } as Pod
    for (const change of [() => info.add(pod), () => info.update(newer), () => info.remove(pod)]) {
      change()
      versions.push(info.version)
    }
    expect(new Set(versions).size).toBe(4)
    info.add(pod)
    const { version } = info
    info.refresh(newer)
    expect([info.version, info.pods.get('uid-a')]).toEqual([version, newer])
  })
})
