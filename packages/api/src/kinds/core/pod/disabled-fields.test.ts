import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../../../freeze.ts'
import type { KubernetesObject } from '../../../meta.ts'
import type { StoredKind } from '../../../stored-kind.ts'
import { daemonSets } from '../../apps/daemon-set/daemon-set.ts'
import { deployments } from '../../apps/deployment/deployment.ts'
import { replicaSets } from '../../apps/replica-set/replica-set.ts'
import { statefulSets } from '../../apps/stateful-set/stateful-set.ts'
import { cronJobs } from '../../batch/cron-job/cron-job.ts'
import { jobs } from '../../batch/job/job.ts'
import { podTemplates } from '../pod-template.ts'
import { replicationControllers } from '../replication-controller/replication-controller.ts'
import { pods } from './pod.ts'

const projected = (...sources: object[]) => ({ volumes: [{ name: 'v', projected: { sources, defaultMode: 420 } }] })
const secret = { secret: { name: 's' } }
const bundle = { clusterTrustBundle: { name: 'b', path: 'ca.crt' } }
const certificate = { podCertificate: { signerName: 'a.b/c', keyType: 'ED25519', keyPath: 'key' } }
const group = { schedulingGroup: { podGroupName: 'g' } }

const containers = [{ name: 'a', image: 'b' }]
const all = { containers, ...group, ...projected(secret, bundle, certificate) }
const none = { containers, ...projected(secret, {}, {}) }

type Around = (spec: object) => object
type Case = readonly [string, StoredKind, Around]
const inTemplate: Around = (spec) => ({ spec: { selector: {}, template: { metadata: {}, spec } } })

const kinds = [
  ['Pod', pods, (spec: object) => ({ spec })],
  ['PodTemplate', podTemplates, (spec: object) => ({ template: { metadata: {}, spec } })],
  ['ReplicationController', replicationControllers, inTemplate],
  ['ReplicaSet', replicaSets, inTemplate],
  ['Deployment', deployments, inTemplate],
  ['StatefulSet', statefulSets, inTemplate],
  ['DaemonSet', daemonSets, inTemplate],
  ['Job', jobs, inTemplate],
  ['CronJob', cronJobs, (spec: object) => ({ spec: { jobTemplate: inTemplate(spec) } })],
] as unknown as readonly Case[]

describe.each(kinds)('fields of a %s that upstream has off', (_, { strategy }, around) => {
  const object = (spec: object) =>
    deepFreeze({ metadata: { name: 'a' }, ...around(spec) }) as unknown as KubernetesObject
  const created = (spec: object) => strategy.prepareForCreate?.(object(spec), 0)
  const updated = (spec: object, old: object) => strategy.prepareForUpdate?.(object(spec), object(old), 0)

  it('do not come in', () => {
    expect(created(all)).toMatchObject(around(none))
    expect(created(all)).not.toMatchObject(around(group))
    expect(updated(all, none)).toMatchObject(around(none))
    expect(updated(all, none)).not.toMatchObject(around(group))
  })

  it('may stay', () => {
    expect(updated(all, all)).toMatchObject(around(all))
    const withBundle = { containers, ...projected(secret, bundle, {}) }
    expect(updated(all, withBundle)).toMatchObject(around(withBundle))
    expect(updated(all, withBundle)).not.toMatchObject(around(group))
  })
})

it('a pod without them is left as it is', () => {
  const pod = deepFreeze({ metadata: { name: 'a' }, spec: { containers, ...projected(secret) } }) as never
  expect(pods.strategy.prepareForUpdate?.(pod, pod, 0)).toBe(pod)
})
