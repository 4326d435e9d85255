import type { Event, KubernetesObject } from '@coracle/api'
import type { Finding } from '@coracle/why'
import { expect, it } from 'vitest'
import type { View } from '../view.ts'
import { autoscalerOracles } from './autoscaler-oracles.ts'
import type { Oracle, World } from './oracle.ts'
import { otherOracles } from './other-oracles.ts'
import { failedBy, podOracles } from './pod-oracles.ts'
import { volumeOracles } from './volume-oracles.ts'
import type { WriteLog } from './write-log.ts'

type Loose = Readonly<Record<string, unknown>>

const made = (kind: string, name: string, parts: Loose = {}, metadata: Loose = {}) =>
  ({ kind, metadata: { name, namespace: 'shop', uid: name, ...metadata }, ...parts }) as unknown as KubernetesObject

const storageClass = made('StorageClass', 'local', { volumeBindingMode: 'WaitForFirstConsumer' })
const claim = (phase: string, metadata: Loose = {}, spec: Loose = {}) =>
  made('PersistentVolumeClaim', 'data', { spec: { storageClassName: 'local', ...spec }, status: { phase } }, metadata)
const user = (nodeName?: string) =>
  made('Pod', 'db', { spec: { nodeName, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } })
const chosen = { annotations: { 'volume.kubernetes.io/selected-node': 'n' } }
const going = { deletionTimestamp: '2026-01-01T00:00:00Z' }
const volume = (spec: Loose = {}, status: Loose = {}, metadata: Loose = {}) =>
  made('PersistentVolume', 'pv', { spec, status }, metadata)
const taken = { claimRef: { namespace: 'shop', name: 'other', uid: 'other' } }
const autoscaler = made('HorizontalPodAutoscaler', 'web', {
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
})

const fromTemplate = (spec: Loose = {}) =>
  made('Pod', 'gpu', { spec: { resourceClaims: [{ name: 'own', resourceClaimTemplateName: 'one' }], ...spec } })
const noTemplate = 'claim own is to be made from resource claim template one, which is not there'
const devicesTaken = '0/1 nodes are available: 1 cannot allocate all claims.'
const unplaced = made('Pod', 'gpu', {
  spec: {},
  status: { conditions: [{ type: 'PodScheduled', status: 'False', message: devicesTaken }] },
})

const notMounted = 'Unable to attach or mount volumes: the claim is being deleted'
const noSandbox = 'Failed to create pod sandbox: no address is left'
const withContainer = (name: string, state: Loose) =>
  made('Pod', name, { status: { containerStatuses: [{ name: 'main', state }] } })
const creating = { waiting: { reason: 'ContainerCreating' } }
const happened = (reason: string, message: string, second: number) =>
  ({ reason, message, lastTimestamp: `2026-01-01T00:00:0${second}Z` }) as Event
/** What nodes have said of pods. */
const events: Readonly<Record<string, readonly Event[]>> = {
  db: [happened('Pulled', '', 1), happened('FailedMount', notMounted, 2)],
  sealed: [happened('FailedCreatePodSandBox', noSandbox, 2)],
  late: [happened('FailedCreatePodSandBox', noSandbox, 2), happened('Pulled', '', 3)],
}
const log = { eventsAbout: (uid: string) => events[uid] ?? [] } as Partial<WriteLog> as WriteLog
const refused = made('Pod', 'db', { status: { phase: 'Failed', reason: 'OutOfcpu', message: 'no room' } })

const noNodes = 'There are no available nodes for LoadBalancer'
const noBalancer = 'it is of type LoadBalancer, and no controller has given it one'
const balancer = (said?: string, status: Loose = {}, type = 'LoadBalancer') => {
  const condition = { type: 'coracle.dev/NodeAddresses', status: 'False', reason: 'NoNodes', message: said }
  return made('Service', 'web', { spec: { type }, status: { ...status, ...(said && { conditions: [condition] }) } })
}
const addressed = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } }

const unboundClaim = 'a claim is not bound: data'
const waitsForPod = 'class local binds when a pod that uses the claim gets a node, and pod db has none yet'
const oracles: Readonly<Record<string, Oracle>> = {
  ...volumeOracles,
  ...autoscalerOracles,
  ...podOracles,
  ...otherOracles,
  OutOfcpu: failedBy,
  OutOfpods: failedBy,
}

it.each<
  [reason: string, because: string, object: KubernetesObject, others: readonly KubernetesObject[], isTrue: boolean]
>([
  ['ClaimUnbound', unboundClaim, user(), [claim('Pending')], true],
  ['ClaimUnbound', unboundClaim, user(), [claim('Bound')], false],
  ['ClaimUnbound', unboundClaim, user('n'), [claim('Pending')], false],
  ['ClaimUnbound', 'a claim is not bound: other', user(), [], false],
  ['ClaimMissing', 'there is no claim data in namespace shop', user(), [], true],
  ['ClaimMissing', 'there is no claim data in namespace shop', user(), [claim('Pending')], false],
  ['ResourceClaimTemplateMissing', noTemplate, fromTemplate(), [], true],
  ['ResourceClaimTemplateMissing', noTemplate, fromTemplate(), [made('ResourceClaimTemplate', 'one')], false],
  ['ResourceClaimTemplateMissing', noTemplate, fromTemplate({ nodeName: 'n' }), [], false],
  ['ResourceClaimTemplateMissing', noTemplate.replace('own', 'other'), fromTemplate(), [], false],
  ['DevicesTaken', devicesTaken, unplaced, [], true],
  ['DevicesTaken', 'something else', unplaced, [], false],
  ['VolumeNotMounted', notMounted, withContainer('db', creating), [], true],
  ['VolumeNotMounted', 'something else', withContainer('db', creating), [], false],
  ['VolumeNotMounted', notMounted, withContainer('db', { running: {} }), [], false],
  ['VolumeNotMounted', noSandbox, withContainer('sealed', creating), [], false],
  ['SandboxNotCreated', noSandbox, withContainer('sealed', creating), [], true],
  ['SandboxNotCreated', 'something else', withContainer('sealed', creating), [], false],
  ['SandboxNotCreated', noSandbox, withContainer('late', creating), [], false],
  ['OutOfcpu', 'no room', refused, [], true],
  ['OutOfcpu', 'something else', refused, [], false],
  ['OutOfpods', 'no room', refused, [], false],
  ['WaitsForPodScheduled', waitsForPod, claim('Pending'), [storageClass, user()], true],
  ['WaitsForPodScheduled', waitsForPod, claim('Pending'), [storageClass, user('n')], false],
  ['WaitsForPodScheduled', waitsForPod, claim('Pending'), [storageClass], false],
  ['WaitsForPodScheduled', waitsForPod, claim('Pending', chosen), [storageClass, user()], false],
  ['WaitsForPodScheduled', waitsForPod, claim('Bound'), [storageClass, user()], false],
  ['WaitsForFirstConsumer', '', claim('Pending'), [storageClass], true],
  ['WaitsForFirstConsumer', '', claim('Pending'), [storageClass, user()], false],
  ['WaitsForProvisioner', '', claim('Pending', chosen), [storageClass], true],
  ['WaitsForProvisioner', '', claim('Pending'), [storageClass], false],
  ['StorageClassMissing', '', claim('Pending'), [], true],
  ['StorageClassMissing', '', claim('Pending'), [storageClass], false],
  ['VolumeMissing', '', claim('Pending', {}, { volumeName: 'pv' }), [], true],
  ['VolumeMissing', '', claim('Pending', {}, { volumeName: 'pv' }), [volume()], false],
  ['VolumeTaken', '', claim('Pending', {}, { volumeName: 'pv' }), [volume(taken)], true],
  ['VolumeTaken', '', claim('Pending', {}, { volumeName: 'pv' }), [volume()], false],
  ['VolumeLost', '', claim('Lost'), [], true],
  ['VolumeLost', '', claim('Bound'), [], false],
  ['ClaimInUse', 'pod db uses it', claim('Bound', going), [user('n')], true],
  ['ClaimInUse', 'pod db uses it', claim('Bound', going), [], false],
  ['ClaimInUse', 'pod db uses it', claim('Bound'), [user('n')], false],
  ['VolumeReleased', '', volume({ persistentVolumeReclaimPolicy: 'Retain' }, { phase: 'Released' }), [], true],
  ['VolumeReleased', '', volume({ persistentVolumeReclaimPolicy: 'Delete' }, { phase: 'Released' }), [], false],
  ['ReclaimFailed', '', volume({}, { phase: 'Failed' }), [], true],
  ['ReclaimFailed', '', volume({}, { phase: 'Bound' }), [], false],
  ['LoadBalancerPending', noNodes, balancer(noNodes), [], true],
  ['LoadBalancerPending', noNodes, balancer('port 80/TCP is taken by service shop/other'), [], false],
  ['LoadBalancerPending', noNodes, balancer(), [], false],
  ['LoadBalancerPending', noNodes, balancer(noNodes, addressed), [], false],
  ['LoadBalancerPending', noNodes, balancer(noNodes, {}, 'ClusterIP'), [], false],
  ['LoadBalancerPending', noBalancer, balancer(), [], true],
  ['LoadBalancerPending', noBalancer, balancer(noNodes), [], false],
  ['NoNodes', '', made('DaemonSet', 'web'), [], true],
  ['NoNodes', '', made('DaemonSet', 'web'), [made('Node', 'n')], false],
  ['NoNodes', devicesTaken, unplaced, [made('Node', 'n')], true],
  ['NoNodes', 'something else', unplaced, [], false],
  ['TargetMissing', '', autoscaler, [], true],
  ['TargetMissing', '', autoscaler, [made('Deployment', 'web')], false],
])('%s (%s) is checked against what there is, case %#', (reason, because, object, others, isTrue) => {
  const all = [object, ...others]
  const view: Partial<View> = {
    all: () => all,
    list: <T>(kind: string) => all.filter((each) => each.kind === kind) as unknown as readonly T[],
    find: (kind, _namespace, name) => all.find((each) => each.kind === kind && each.metadata.name === name),
  }
  const finding = { reason, because } as Finding
  const problem = oracles[reason]?.(finding, object, { view, log } as World)
  expect(oracles[reason]).toBeDefined()
  expect(problem === undefined).toBe(isTrue)
})
