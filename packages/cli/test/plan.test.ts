import {
  ApiError,
  deployments,
  horizontalPodAutoscalers,
  type KubernetesObject,
  nodes,
  podDisruptionBudgets,
  type Resource,
  resourceQuotas,
  secrets,
  services,
  validatingWebhookConfigurations,
} from '@coracle/api'
import type { Client, HttpClient } from '@coracle/client'
import { startTestCluster, type TestCluster } from '@coracle/cluster/testing'
import { realClock } from '@coracle/environment'
import type { PlanReport } from '@coracle/simulator'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../src/program.ts'
import { recordingHost } from '../src/testing/recording-host.ts'

const clusters: TestCluster[] = []
afterEach(async () => {
  for (const cluster of clusters.splice(0)) await cluster.stop()
})

/** A cluster with the Deployment `web`, and what the test adds, at rest. */
async function cluster(more: readonly (readonly [Resource, object])[] = [], replicas = 4): Promise<TestCluster> {
  const source = await startTestCluster({ nodes: 2 })
  clusters.push(source)
  await source.client.create(deployments, deployment(replicas))
  for (const [resource, object] of more) await source.client.create(resource, object as KubernetesObject)
  await source.advance('1m')
  return source
}

const metadata = { name: 'web', namespace: 'default' }
const selector = { matchLabels: { app: 'web' } }
const deployment = (replicas: number, image = 'example/web:1', fields: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata,
  spec: {
    replicas,
    selector,
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image, ...fields }] } },
  },
})
const budget = (minAvailable: number): readonly [Resource, object] => [
  podDisruptionBudgets as Resource,
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec: { minAvailable, selector } },
]
const service: readonly [Resource, object] = [
  services as Resource,
  { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } },
]

interface Planned {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What the source was asked for. */
  readonly asked: readonly string[]
}

/** Runs `coracle plan` against a cluster in this process, which answers lists and nothing else. */
async function plan(source: TestCluster, line: string, stdin = '', hidden = '', more = {}): Promise<Planned> {
  const asked: string[] = []
  const client = new Proxy(source.client, {
    get: (target: Client, verb: string) => {
      if (verb === 'discover') return () => source.discover()
      if (verb === 'close') return async () => {}
      if (verb === 'then') return undefined
      return async (resource: Resource, options: object) => {
        asked.push(verb)
        if (resource.plural === hidden) throw new ApiError(403, 'Forbidden', `${hidden} is forbidden`)
        return (target as unknown as Record<string, (...args: unknown[]) => unknown>)[verb]?.(resource, options)
      }
    },
  }) as unknown as HttpClient
  const host = recordingHost({ environment: source.environment, stdin })
  const code = await run(['plan', ...line.split(' ').filter((word) => word !== '')], {
    ...host,
    ...more,
    connect: async () => ({ client, namespace: 'default' }),
  })
  return { code, ...host.written, asked }
}

const reportOf = ({ stdout }: Planned): PlanReport => JSON.parse(stdout) as PlanReport
const shortReport = (planned: Planned) =>
  reportOf(planned).problems.map(({ severity, type, object }) => `${severity} ${type} ${object?.kind}`)

describe('coracle plan', () => {
  it('shows a rollout that keeps what is promised, and changes nothing', async () => {
    const source = await cluster([service])
    const before = JSON.stringify((await source.client.list(deployments)).items)
    const planned = await plan(source, 'rollout restart deployment/web')
    expect(planned).toMatchObject({ code: 0, stderr: '' })
    expect(planned.stdout).toContain('deployment.apps/web restarted')
    expect(planned.stdout).toMatch(/\+4s {2}complete +deployment\/web +4 replicas/)
    expect(planned.stdout).toMatch(/deployment\/web +3 +3 +█[▆█]+ +maxUnavailable 25%/)
    expect(planned.stdout).toContain('Safe: what is promised is kept, and all is done after 4s.')
    expect(new Set(planned.asked)).toEqual(new Set(['list']))
    expect(JSON.stringify((await source.client.list(deployments)).items)).toBe(before)
  })

  it('gives the same for the same state and seed, byte for byte', async () => {
    const source = await cluster([service])
    const line = '-o json --seed 7 --fail-rate 50% set image deployment/web web=example/web:2'
    const first = await plan(source, line)
    expect((await plan(source, line)).stdout).toBe(first.stdout)
    expect((await plan(source, line.replace('7', '8'))).stdout).not.toBe(first.stdout)
  })

  it.each<[string, string, string[]]>([
    ['a rollout below its budget', 'rollout restart deployment/web', ['error unavailable PodDisruptionBudget']],
    [
      'a scale to none',
      'scale deployment/web --replicas=0',
      ['error unavailable PodDisruptionBudget', 'error unavailable Service'],
    ],
    [
      'a drain that a budget blocks',
      'drain node-0 --ignore-daemonsets',
      ['error blocked Deployment', 'error unfinished undefined'],
    ],
    ['a change that is refused', 'scale deployment/other --replicas=1', ['error refused undefined']],
  ])('ends with code 2 for %s', async (_, line, problems) => {
    const planned = await plan(await cluster([service, budget(4)]), `-o json ${line}`)
    expect(planned.code).toBe(2)
    expect(shortReport(planned)).toEqual(problems)
  })

  it('ends with code 2 for a rollout whose pods all fail, whether they crash or never get ready', async () => {
    const planned = await plan(
      await cluster([service, budget(4)]),
      '-o json --fail-rate 1 rollout restart deployment/web',
    )
    expect(planned.code).toBe(2)
    expect(shortReport(planned)).toEqual(
      expect.arrayContaining(['error unavailable PodDisruptionBudget', 'error unfinished Deployment']),
    )
  })

  it('names what no node takes, what a quota refuses, and what a rollout then lacks', async () => {
    const quota: readonly [Resource, object] = [
      resourceQuotas as Resource,
      {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { ...metadata, name: 'few' },
        spec: { hard: { pods: '5' } },
      },
    ]
    const refused = await plan(await cluster([quota]), '-o json scale deployment/web --replicas=9')
    expect(reportOf(refused).problems[0]?.message).toContain('exceeded quota: few')
    const large = JSON.stringify(deployment(4, 'example/web:2', { resources: { requests: { cpu: '1000' } } }))
    const unschedulable = await plan(await cluster(), '-o json -f -', large)
    expect(shortReport(unschedulable)).toEqual(['error unschedulable Deployment', 'error unfinished Deployment'])
    expect(reportOf(unschedulable).problems[0]?.message).toContain('Insufficient cpu')
  })

  it('has pods wait as long as they take to start, and as their readiness probes say', async () => {
    const probe = { readinessProbe: { httpGet: { port: 80 }, initialDelaySeconds: 10 } }
    const text = JSON.stringify(deployment(1, 'example/web:2', probe))
    const planned = await plan(await cluster([], 1), '-o json --start-delay 5s -f -', text)
    expect(planned.code).toBe(0)
    const ready = reportOf(planned).timeline.find(({ type }) => type === 'ready')
    expect(ready?.at).toBe(15)
  })

  it('has no time pass while it reads what to apply', async () => {
    const text = JSON.stringify(deployment(1, 'example/web:2'))
    const readStdin = async () => {
      // More turns of the event loop than a minute of the copy takes.
      for (let turn = 0; turn < 10_000; turn += 1) await new Promise<void>((resolve) => realClock.defer(resolve))
      return text
    }
    const source = await cluster([], 1)
    const slow = await plan(source, '-o json --timeout 1m -f -', '', '', { readStdin })
    expect(slow.stdout).toBe((await plan(source, '-o json --timeout 1m -f -', text)).stdout)
    expect(slow.code).toBe(0)
  })

  it('says what could not be read, and who is not asked', async () => {
    const webhook: readonly [Resource, object] = [
      validatingWebhookConfigurations as Resource,
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'checks' },
        webhooks: [
          {
            name: 'checks.example.dev',
            clientConfig: { url: 'https://127.0.0.1:1/checks' },
            rules: [{ apiGroups: ['batch'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['jobs'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    ]
    const source = await cluster([webhook])
    const planned = await plan(source, 'create job once --image=example/job', '', secrets.plural)
    expect(planned.stdout).toContain('Not read: secrets (forbidden)')
    expect(planned.stdout).toContain(
      'Not asked, and may refuse or change what comes: ValidatingWebhookConfiguration checks',
    )
    expect(planned.stdout).toMatch(/\+32s {2}completed +job\/once/)
    expect(planned.code).toBe(0)
  })

  it('takes for granted what it may not read, and misses what is not there', async () => {
    const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'database', key: 'password' } } }]
    const text = JSON.stringify(deployment(1, 'example/web:2', { env }))
    const source = await cluster([], 1)
    expect((await plan(source, '-f -', text, secrets.plural)).code).toBe(0)
    const missing = await plan(source, '-o json -f -', text)
    expect(missing.code).toBe(2)
    expect(reportOf(missing).problems[0]?.message).toContain('secret "database" not found')
  })

  it('calls a drain safe that takes what a budget lets go, though a rollout would take less', async () => {
    const drain = '-o json drain node-0 --ignore-daemonsets'
    const allowed = await plan(await cluster([budget(2)]), drain)
    expect(allowed.code).toBe(0)
    const [web] = reportOf(allowed).availability.filter(({ object }) => object.kind === 'Deployment')
    expect(web).toMatchObject({ lowest: 2, promised: 0, by: 'as budget web says' })
    const unguarded = await plan(await cluster(), drain)
    expect(shortReport(unguarded)).toEqual(['error unavailable Deployment'])
  })

  it('has autoscalers keep their numbers of pods within their bounds, and says so', async () => {
    const scaler: readonly [Resource, object] = [
      horizontalPodAutoscalers as Resource,
      {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata,
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          minReplicas: 1,
          maxReplicas: 6,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
          ],
        },
      },
    ]
    const source = await cluster([scaler])
    const scaledTo = async (line: string) => {
      const { timeline } = reportOf(await plan(source, `-o json ${line}`))
      return timeline
        .filter(({ type, object }) => type === 'scaled' && object.kind === 'Deployment')
        .map(({ to }) => to)
    }
    expect(await scaledTo('scale deployment/web --replicas=5')).toEqual([5])
    expect(await scaledTo('scale deployment/web --replicas=9')).toEqual([9, 6])
    expect(await scaledTo('patch hpa/web --type=merge -p {"spec":{"minReplicas":6}}')).toEqual([6])
    expect((await plan(source, 'label deployment/web tier=front')).stdout).toContain(
      'Assumed to have a load that their number of pods is right for: horizontalpodautoscaler/web',
    )
  })

  it('tells what is under way without the change', async () => {
    const source = await cluster()
    await source.client.patch(nodes, { name: 'node-0' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await source.client.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await source.client.create(deployments, { ...deployment(1), metadata: { ...metadata, name: 'stuck' } })
    await source.advance('1m')
    const planned = await plan(source, 'label deployment/web tier=front')
    expect(planned.stdout).toContain(
      'Already under way, without the change:\n  deployment/stuck is not what it was asked to be',
    )
    expect(planned.code).toBe(0)
  })

  it.each([
    ['nothing', '', 'say what to plan'],
    ['a command that changes nothing', 'get pods', '"get" is nothing to plan'],
    ['an editor', 'edit deployment/web', 'an editor cannot be played: write what you would have there to a file'],
    ['an editor of what was applied', 'apply edit-last-applied deployment/web', 'an editor cannot be played'],
    ['an editor before a creation', 'create -f web.yaml --edit', 'an editor cannot be played'],
    ['one that only looks', 'rollout status deployment/web', '"rollout status" is nothing to plan'],
    ['a file and a command', '-f x.yaml scale deployment/web', '-f plays apply'],
    ['a command with a wrong flag', 'scale deployment/web', 'required flag(s) "replicas" not set'],
    ['a share that is none', '--fail-rate 7 -f x.yaml', '"7" is no share'],
  ])('refuses %s', async (_, line, message) => {
    const source = await startTestCluster({ nodes: 0 })
    clusters.push(source)
    const planned = await plan(source, line)
    expect(planned.code).toBe(1)
    expect(planned.stderr).toContain(message)
    expect(planned.stdout).toBe('')
  })
})
