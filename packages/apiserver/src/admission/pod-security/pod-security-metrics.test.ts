import {
  type Deployment,
  deployments,
  type KubernetesObject,
  type Namespace,
  namespaces,
  type Pod,
  pods,
  type Resource,
} from '@coracle/api'
import { createMetricsRegistry } from '@coracle/environment'
import { beforeEach, expect, it } from 'vitest'
import { pod, refusal, startTestCore, type TestCore } from '../../testing/test-core.ts'

let test: TestCore
let metrics: ReturnType<typeof createMetricsRegistry>
beforeEach(async () => {
  metrics = createMetricsRegistry()
  test = await startTestCore({ disabledAdmission: ['ServiceAccount'], metrics })
})

/** The series of `pod_security_*` that have counted something, without the prefix. */
const counted = (): readonly string[] =>
  metrics
    .text()
    .split('\n')
    .filter((line) => line.startsWith('pod_security_') && !line.endsWith(' 0'))
    .map((line) => line.slice('pod_security_'.length))

const create = <T extends KubernetesObject>(resource: Resource<T>, object: T) => test.client.create(resource, object)
const inTeam = { namespace: 'team' }
const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] }

/** Makes the namespace, with labels that are given without their prefix. */
async function team(labels: Readonly<Record<string, string>>): Promise<void> {
  const prefixed = Object.entries(labels).map(([label, value]) => [`pod-security.kubernetes.io/${label}`, value])
  const metadata = { name: 'team', labels: Object.fromEntries(prefixed) }
  await create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata } as Namespace)
}

const evaluation = (mode: string, decision: string, policy: string, resource = 'pod', subresource = '') => {
  const [level, version = 'latest'] = policy.split(':')
  return `evaluations_total{decision="${decision}",policy_level="${level}",policy_version="${version}",mode="${mode}",request_operation="${subresource === '' ? 'create' : 'update'}",resource="${resource}",subresource="${subresource}"} 1`
}

it('counts pods of namespaces that ask for nothing as allowed, and nothing of what makes pods there', async () => {
  await team({})
  await create(pods, pod('a', inTeam, privileged))
  await create(deployments, deployment)
  expect(counted()).toEqual([evaluation('enforce', 'allow', 'privileged')])
})

it('counts the same where labels say so, whatever version they name', async () => {
  await team({ enforce: 'privileged', 'enforce-version': 'v1.30' })
  await create(pods, pod('a', inTeam, privileged))
  expect(counted()).toEqual([evaluation('enforce', 'allow', 'privileged')])
})

it('counts what is enforced, and of what is audited and warned of the violations', async () => {
  await team({
    enforce: 'baseline',
    audit: 'restricted',
    'audit-version': 'v1.30',
    warn: 'restricted',
    'warn-version': 'v1.99',
  })
  await create(pods, pod('a', inTeam))
  expect(counted()).toEqual([
    evaluation('enforce', 'allow', 'baseline'),
    evaluation('audit', 'deny', 'restricted:v1.30'),
    evaluation('warn', 'deny', 'restricted:future'),
  ])
})

it('counts a pod that is refused, of which nobody is warned', async () => {
  await team({ enforce: 'baseline', warn: 'restricted' })
  await refusal(create(pods, pod('a', inTeam, privileged)))
  expect(counted()).toEqual([evaluation('enforce', 'deny', 'baseline')])
})

it('counts what makes pods as controllers, for which nothing is enforced', async () => {
  await team({ enforce: 'baseline', warn: 'baseline' })
  await create(deployments, deployment)
  expect(counted()).toEqual([evaluation('warn', 'deny', 'baseline', 'controller')])
})

it('counts containers for debugging by their subresource', async () => {
  await team({ enforce: 'baseline' })
  await create(pods, pod('a', inTeam))
  const body = { spec: { ephemeralContainers: [{ name: 'debug', image: 'i' }] } }
  await test.client.patch(
    pods,
    { ...inTeam, name: 'a' },
    { type: 'strategic', body },
    { subresource: 'ephemeralcontainers' },
  )
  expect(counted()).toContain(evaluation('enforce', 'allow', 'baseline', 'pod', 'ephemeralcontainers'))
})

it('counts labels that cannot be read as errors that are not fatal', async () => {
  await team({})
  const name = { name: 'team' }
  const label = { 'pod-security.kubernetes.io/enforce': 'no-such-level' }
  // Such labels are from before the plugin was enabled.
  const without = await startTestCore({ store: test.store, disabledAdmission: ['PodSecurity', 'ServiceAccount'] })
  await without.client.patch(namespaces, name, { type: 'merge', body: { metadata: { labels: label } } })
  await refusal(create(pods, pod('a', inTeam) as Pod))
  expect(counted()).toContain('errors_total{fatal="false",request_operation="create",resource="pod",subresource=""} 1')
})

it('has a series for exemptions, of which there are none', () => {
  expect(metrics.text()).toContain(
    'pod_security_exemptions_total{request_operation="create",resource="controller",subresource=""} 0',
  )
})

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', ...inTeam },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: privileged },
  },
} as unknown as Deployment
