import { attachmentName, type Node, type Pod, type VolumeAttachment, volumeAttachments } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { volume } from '../testing/volumes.ts'
import { type NodeMemory, type ObservedNode, planAttachments, unmountMaxMs, type WantedVolume } from './plan.ts'

const driver = 'disks.example.com'
const csi = { driver, volumeHandle: 'handle' }
const disk = volume('pv', { csi })
const attachmentOf = (nodeName: string) => attachmentName(driver, 'handle', nodeName)
const reported = `kubernetes.io/csi/${driver}^handle`

const pod = (name: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers: [] },
})

const nodeWith = ({
  ready = 'True',
  inUse = [] as string[],
  attached = [] as string[],
  taints = [] as string[],
} = {}) =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n' },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: {
      conditions: [{ type: 'Ready', status: ready }],
      volumesInUse: inUse,
      volumesAttached: attached.map((name) => ({ name, devicePath: '' })),
    },
  }) as unknown as Node

const attachment = (status: VolumeAttachment['status'] = { attached: true }, metadata: object = {}) => ({
  volume: disk,
  attachment: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentOf('n'), uid: 'va', ...metadata },
    spec: { attacher: driver, nodeName: 'n', source: { persistentVolumeName: 'pv' } },
    status,
  } as VolumeAttachment,
})

const wanted: WantedVolume = { volume: disk, pods: [pod('web')], otherPods: [], isAttachedElsewhere: false }
const nothing: NodeMemory = { unwantedSince: new Map(), told: new Set() }

function plan(observed: Partial<ObservedNode>, nowMs = 0) {
  const whole = { name: 'n', node: nodeWith(), wanted: [], attachments: [], memory: nothing, ...observed }
  return planAttachments(whole, nowMs)
}

/** What a plan does, in short. */
const brief = (observed: Partial<ObservedNode>, nowMs = 0): readonly string[] =>
  plan(observed, nowMs).actions.map((action) => {
    switch (action.type) {
      case 'event':
        return `${action.eventType} ${action.reason} of ${action.about?.metadata.name}: ${action.message}`
      case 'patch':
        return `report ${JSON.stringify(action.patch.body)}`
      case 'create':
        return `attach ${action.object.metadata.name}`
      case 'delete':
        return `detach ${action.key.name}`
      default:
        return action.type
    }
  })

const report = (...names: readonly string[]) =>
  `report ${JSON.stringify({ status: { volumesAttached: names.map((name) => ({ name, devicePath: '' })) } })}`
const detach = `detach ${attachmentOf('n')}`

describe('a volume that pods of the node have', () => {
  it('is to be attached, as upstream writes that', () => {
    const [action] = plan({ wanted: [wanted] }).actions
    expect(action).toMatchObject({
      type: 'create',
      resource: volumeAttachments,
      object: {
        metadata: { name: attachmentOf('n') },
        spec: { attacher: driver, nodeName: 'n', source: { persistentVolumeName: 'pv' } },
      },
    })
    // SHA-256 of `handledisks.example.comn`.
    expect(attachmentOf('n')).toBe('csi-9732ce0bae8004d2fe0f8c7756b21d5b36e8af8b9081ae469a2056c1bdaeb6ae')
  })

  const attached = 'AttachVolume.Attach succeeded for volume "pv" '
  const failed = { attached: false, attachError: { time: '2026-01-01T00:00:00Z', message: 'no slot' } }
  const told = `${attachmentOf('n')} 2026-01-01T00:00:00Z AttachVolume.Attach failed for volume "pv" : no slot`
  const both = { ...wanted, pods: [pod('a'), pod('b')] }
  const elsewhere = { ...wanted, isAttachedElsewhere: true }
  const shared = { ...elsewhere, volume: volume('pv', { csi, accessModes: ['ReadWriteMany'] }) }
  const exclusive =
    'Multi-Attach error for volume "pv" Volume is already exclusively attached to one node and can\'t be attached to another'
  it.each<[string, Partial<ObservedNode>, readonly string[]]>([
    ['is waited for', { wanted: [wanted], attachments: [attachment({ attached: false })] }, []],
    [
      'is waited for while it goes',
      { wanted: [wanted], attachments: [attachment({ attached: true }, { deletionTimestamp: 'now' })] },
      [],
    ],
    [
      'is told of when it is attached, to the Node and all pods',
      { wanted: [both], attachments: [attachment()] },
      [
        report(reported),
        `Normal SuccessfulAttachVolume of a: ${attached}`,
        `Normal SuccessfulAttachVolume of b: ${attached}`,
      ],
    ],
    [
      'is told of once',
      { node: nodeWith({ attached: [reported] }), wanted: [wanted], attachments: [attachment()] },
      [],
    ],
    [
      'is told of when it cannot be attached',
      { wanted: [wanted], attachments: [attachment(failed)] },
      ['Warning FailedAttachVolume of web: AttachVolume.Attach failed for volume "pv" : no slot'],
    ],
    [
      'is told of once for each try',
      { wanted: [wanted], attachments: [attachment(failed)], memory: { ...nothing, told: new Set([told]) } },
      [],
    ],
    [
      'is not attached twice, where it is for one node',
      { wanted: [elsewhere] },
      [`Warning FailedAttachVolume of web: ${exclusive}`],
    ],
    [
      'is not attached twice, and it is said who has it',
      { wanted: [{ ...elsewhere, otherPods: ['x', 'y'] }] },
      ['Warning FailedAttachVolume of web: Multi-Attach error for volume "pv" Volume is already used by pod(s) x, y'],
    ],
    ['is attached twice where it is for several nodes', { wanted: [shared] }, [`attach ${attachmentOf('n')}`]],
  ])('%s', (_, observed, expected) => {
    expect(brief(observed)).toEqual(expected)
  })

  it('is remembered to have been told of as long as that is so', () => {
    const { memory } = plan({ wanted: [wanted], attachments: [attachment(failed)] })
    expect([...memory.told]).toEqual([told])
    expect(plan({ wanted: [wanted], attachments: [attachment()], memory }).memory.told.size).toBe(0)
  })
})

describe('a volume that no pod of the node has any more', () => {
  const inUse = nodeWith({ inUse: [reported], attached: ['kubernetes.io/other/x', reported] })
  const unwell = nodeWith({ ready: 'Unknown', inUse: [reported], attached: [reported] })
  const since: NodeMemory = { ...nothing, unwantedSince: new Map([[attachmentOf('n'), 0]]) }
  const attachments = [attachment()]
  it.each<[string, Partial<ObservedNode>, number, readonly string[]]>([
    ['is detached', { attachments }, 0, [detach]],
    [
      'is not attached in the words of the Node before it is detached',
      { node: nodeWith({ attached: [reported] }), attachments },
      0,
      [report(), detach],
    ],
    ['stays while the node uses it, and the Node says so', { node: inUse, attachments }, 0, []],
    ['stays on a node that is well, however long', { node: inUse, attachments, memory: since }, unmountMaxMs, []],
    [
      'stays on a node that is not well for a while',
      { node: unwell, attachments, memory: since },
      unmountMaxMs - 1,
      [],
    ],
    [
      'is detached from a node that is not well after a while',
      { node: unwell, attachments, memory: since },
      unmountMaxMs,
      [report(), detach],
    ],
    [
      'is detached at once from a node that is out of service',
      { node: nodeWith({ inUse: [reported], taints: ['node.kubernetes.io/out-of-service'] }), attachments },
      0,
      [detach],
    ],
    ['stays for a while where the node is gone', { node: undefined, attachments }, 0, []],
    [
      'is detached after a while where the node is gone',
      { node: undefined, attachments, memory: since },
      unmountMaxMs,
      [detach],
    ],
    ['goes once', { attachments: [attachment({ attached: true }, { deletionTimestamp: 'now' })] }, 0, []],
  ])('%s', (_, observed, nowMs, expected) => {
    expect(brief(observed, nowMs)).toEqual(expected)
  })

  it('is looked after again when the node has had its time', () => {
    const first = plan({ node: unwell, attachments }, 1_000)
    expect(first.requeueAfterMs).toBe(unmountMaxMs)
    const { requeueAfterMs, memory } = plan({ node: unwell, attachments, memory: first.memory }, 5_000)
    expect(requeueAfterMs).toBe(unmountMaxMs - 4_000)
    expect(plan({ node: unwell, attachments, wanted: [wanted], memory }, 6_000).memory.unwantedSince.size).toBe(0)
  })

  it('is looked after again only when the node changes once that time is over', () => {
    const { requeueAfterMs, memory } = plan({ node: inUse, attachments, memory: since }, unmountMaxMs)
    expect(requeueAfterMs).toBeUndefined()
    expect([...memory.unwantedSince.keys()]).toEqual([attachmentOf('n')])
  })
})
