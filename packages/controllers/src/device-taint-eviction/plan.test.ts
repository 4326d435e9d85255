import { type DeviceTaint, type DeviceToleration, type Pod, parseTime, type ResourceClaim } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type ObservedPod, planDeviceEviction } from './plan.ts'

const timeAdded = '2026-01-01T00:00:00Z'
const addedMs = parseTime(timeAdded) ?? 0
const taint = (more: Partial<DeviceTaint> = {}): DeviceTaint => ({
  key: 'broken',
  value: 'yes',
  effect: 'NoExecute',
  timeAdded,
  ...more,
})
const tolerates = (more: Partial<DeviceToleration> = {}): DeviceToleration => ({
  key: 'broken',
  operator: 'Exists',
  effect: 'NoExecute',
  ...more,
})

const pod = (more: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'training', uid: 'u1' },
    spec: {
      nodeName: 'node-1',
      containers: [{ name: 'main', image: 'example/main' }],
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }],
    },
    ...more,
  }) as Pod

const fromTemplate = pod({
  spec: { ...pod().spec, resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }] },
  status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'gpu' }] },
})

const claim = (tolerations: readonly DeviceToleration[] = [], more: object = {}): ResourceClaim =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { namespace: 'default', name: 'gpu' },
    spec: {},
    status: {
      allocation: {
        devices: { results: [{ request: 'gpu', driver: 'd', pool: 'p', device: 'gpu-0', tolerations }] },
      },
      reservedFor: [{ resource: 'pods', name: 'training', uid: 'u1' }],
    },
    ...more,
  }) as ResourceClaim

/** A claim to devices, each with tolerations of the taint for so many seconds; `undefined`: for ever. */
const ofDevices = (devices: readonly (readonly (number | undefined)[])[]): ResourceClaim => {
  const results = devices.map((seconds, index) => ({
    request: 'gpu',
    driver: 'd',
    pool: 'p',
    device: `gpu-${index}`,
    tolerations: seconds.map((tolerationSeconds) =>
      tolerates(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
    ),
  }))
  const of = claim()
  return { ...of, status: { ...of.status, allocation: { devices: { results } } } } as ResourceClaim
}

/** What is done, a second after the taint was added. */
function planned(observed: Partial<ObservedPod>, nowMs = addedMs + 1000) {
  const plan = planDeviceEviction(
    { pod: pod(), claim: () => claim(), taintsOf: () => [taint()], isAwaited: false, ...observed },
    nowMs,
  )
  const done = plan.actions.map((action) =>
    action.type === 'event' ? action.message : `${action.type} ${'subresource' in action ? action.subresource : ''}`,
  )
  return plan.isAwaited ? [...done, `in ${(plan.requeueAfterMs ?? 0) / 1000} s`] : done
}

const leaves = ['Marking for deletion', 'patch status', 'delete ']

describe('a pod whose device is tainted', () => {
  it.each<[string, Partial<ObservedPod>, readonly string[]]>([
    ['leaves', {}, leaves],
    ['stays where the taint only keeps others away', { taintsOf: () => [taint({ effect: 'NoSchedule' })] }, []],
    ['stays where it is no taint that does anything', { taintsOf: () => [taint({ effect: 'None' })] }, []],
    ['stays where its device is not tainted', { taintsOf: () => [] }, []],
    ['stays where it tolerates it', { claim: () => claim([tolerates()]) }, []],
    [
      'stays where it tolerates the value',
      { claim: () => claim([tolerates({ operator: 'Equal', value: 'yes' })]) },
      [],
    ],
    ['leaves where it tolerates another key', { claim: () => claim([tolerates({ key: 'slow' })]) }, leaves],
    [
      'leaves where it tolerates another value',
      { claim: () => claim([tolerates({ operator: 'Equal', value: 'no' })]) },
      leaves,
    ],
    [
      'leaves where its toleration does not name the effect',
      { claim: () => claim([{ key: 'broken', operator: 'Exists' }]) },
      leaves,
    ],
    [
      'stays for as long as it tolerates it',
      { claim: () => claim([tolerates({ tolerationSeconds: 30 })]) },
      ['in 29 s'],
    ],
    [
      'stays for the shortest of its tolerations',
      { claim: () => claim([tolerates({ tolerationSeconds: 30 }), tolerates({ tolerationSeconds: 5 })]) },
      ['in 4 s'],
    ],
    [
      'stays where one of its tolerations is for ever',
      { claim: () => claim([tolerates({ tolerationSeconds: 0 }), tolerates()]) },
      [],
    ],
    ['leaves when it has tolerated it', { claim: () => claim([tolerates({ tolerationSeconds: 1 })]) }, leaves],
    ['leaves where its time is negative', { claim: () => claim([tolerates({ tolerationSeconds: -5 })]) }, leaves],
    [
      'leaves because of the first of several taints',
      { taintsOf: () => [taint({ key: 'slow' }), taint()], claim: () => claim([tolerates({ key: 'slow' })]) },
      leaves,
    ],
    ...[
      ['first', [0, 1, 2]],
      ['in between', [1, 0, 2]],
      ['last', [1, 2, 0]],
    ].map(([where, order]): [string, Partial<ObservedPod>, readonly string[]] => [
      `leaves as soon as one of its devices has it leave, which is named ${where}`,
      { claim: () => ofDevices((order as number[]).map((index) => [[5], [30], [undefined]][index] ?? [])) },
      ['in 4 s'],
    ]),
    [
      'stays where it tolerates the taints of all its devices',
      { claim: () => ofDevices([[undefined], [undefined]]) },
      [],
    ],
    [
      'leaves because of the devices of one of its claims',
      {
        pod: pod({
          spec: { ...pod().spec, resourceClaims: ['a', 'b'].map((name) => ({ name, resourceClaimName: name })) },
        }),
        claim: (name) => (name === 'b' ? ofDevices([[5]]) : claim([tolerates()])),
      },
      ['in 4 s'],
    ],
    [
      'leaves because of one claim while another is not made yet',
      {
        pod: pod({
          spec: {
            ...pod().spec,
            resourceClaims: [
              { name: 'a', resourceClaimTemplateName: 'later' },
              { name: 'gpu', resourceClaimName: 'gpu' },
            ],
          },
        }),
      },
      leaves,
    ],
    ['stays while it has no node', { pod: pod({ spec: { ...pod().spec, nodeName: undefined } }) }, []],
    [
      'is left alone when it is on its way out',
      { pod: pod({ metadata: { ...pod().metadata, deletionTimestamp: timeAdded } }) },
      [],
    ],
    ['stays where its claim is not there', { claim: () => undefined }, []],
    ['stays where its claim has no devices', { claim: () => claim([], { status: {} }) }, []],
    [
      'stays where others have its claim',
      { claim: () => claim([], { status: { ...claim().status, reservedFor: [] } }) },
      [],
    ],
    ['stays where the claim of its template is another pod’s', { pod: fromTemplate }, []],
    [
      'leaves where the claim of its template is its own',
      {
        pod: fromTemplate,
        claim: () =>
          claim([], {
            metadata: {
              name: 'gpu',
              ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'training', uid: 'u1', controller: true }],
            },
          }),
      },
      leaves,
    ],
    ['need not leave any longer', { isAwaited: true, taintsOf: () => [] }, ['Cancelling deletion']],
  ])('%s', (_what, observed, expected) => {
    expect(planned(observed)).toEqual(expected)
  })

  it('says why in its status, and goes only if it is still the one', () => {
    const { actions } = planDeviceEviction(
      { pod: pod(), claim: () => claim(), taintsOf: () => [taint()], isAwaited: false },
      addedMs,
    )
    expect(actions).toMatchObject([
      { type: 'event', eventType: 'Normal', reason: 'DeviceTaintManagerEviction' },
      {
        patch: {
          body: {
            metadata: { uid: 'u1' },
            status: {
              conditions: [
                {
                  type: 'DisruptionTarget',
                  status: 'True',
                  reason: 'DeletionByDeviceTaintManager',
                  message: 'Device Taint manager: deleting due to NoExecute taint',
                  lastTransitionTime: timeAdded,
                },
              ],
            },
          },
        },
      },
      { type: 'delete', key: { namespace: 'default', name: 'training' }, uid: 'u1' },
    ])
  })
})
