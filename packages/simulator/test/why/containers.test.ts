import { configMaps, deployments, events, pods, services } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { container, ending, labels, Situation, selector, templateOf } from './situation.ts'

const web = (spec: object = {}) => ({ spec: { replicas: 1, selector, template: templateOf(spec) } })
const status = (state: object, more: object = {}) => ({
  name: 'main',
  image: 'example/web:1',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  ...more,
})

/** A pod on a node without an agent, so that the test says what its containers do. */
async function reported(containerStatus: object, phase = 'Pending', more: object = {}): Promise<Situation> {
  const situation = await Situation.start({ nodes: 0 })
  await situation.addNode('node-0')
  await situation.create(pods, 'web', {
    metadata: { labels },
    spec: { containers: [{ ...container, resources: { limits: { memory: '64Mi' } } }] },
  })
  const startTime = '2026-01-01T00:00:00Z'
  await situation.report('web', { phase, startTime, containerStatuses: [containerStatus], ...more } as object)
  return situation
}

const isReady = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [status({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { ready: true, started: true })],
} as const

/** What an agent tells of a probe that fails. */
const probeEvent = (message: string) => ({
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web' },
  reason: 'Unhealthy',
  message,
  type: 'Warning',
  lastTimestamp: '2026-01-01T00:00:10Z',
})

describe('why a container does not run', () => {
  it('has an image that cannot be pulled', async () => {
    const message = 'Back-off pulling image "example/web:1"'
    await using situation = await reported(status({ waiting: { reason: 'ImagePullBackOff', message } }))
    expect(await situation.cause(pods, 'web')).toBe(`ImageNotPulled of pod/web: ImagePullBackOff: ${message}`)
    expect(await situation.remedy(pods, 'web')).toContain('imagePullSecrets')
    await situation.report('web', isReady)
    expect(await situation.verdict(pods, 'web')).toBe('fine')
  })

  it('has an image of which the process runtime knows no command', async () => {
    const message =
      'container "main" has no command: the process runtime records image "example/web:1" but does not unpack it.'
    await using situation = await reported(status({ waiting: { reason: 'CreateContainerError', message } }))
    expect(await situation.cause(pods, 'web')).toBe(`CommandMissing of pod/web: CreateContainerError: ${message}`)
    expect(await situation.remedy(pods, 'web')).toBe(
      'say what to run: spec.containers[].command, or with up --images what the image is',
    )
  })

  it('uses more memory than it may', async () => {
    await using situation = await reported(
      status(
        { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s restarting failed container' } },
        { restartCount: 3, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
      ),
      'Running',
    )
    expect(await situation.cause(pods, 'web')).toBe(
      'OutOfMemory of pod/web: it has been restarted 3 times, and ended last with exit code 137 (OOMKilled)',
    )
    expect(await situation.remedy(pods, 'web')).toBe(
      'raise resources.limits.memory of main (now 64Mi), or let it use less',
    )
  })

  it('does not answer its readiness probe', async () => {
    const running = status({ running: { startedAt: '2026-01-01T00:00:00Z' } }, { started: true })
    const conditions = [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }]
    await using situation = await reported(running, 'Running', { conditions })
    expect(await situation.why(pods, 'web')).toMatchObject({
      verdict: 'waiting',
      findings: [{ reason: 'NotReadyYet' }],
    })
    await situation.create(
      events,
      'web.1',
      probeEvent('Readiness probe failed: HTTP probe failed with statuscode: 503'),
    )
    await situation.create(services, 'web', { spec: { selector: labels, ports: [{ port: 80 }] } })
    const told = 'ReadinessProbeFailed of pod/web: Readiness probe failed: HTTP probe failed with statuscode: 503'
    expect(await situation.cause(pods, 'web')).toBe(told)
    expect(await situation.cause(services, 'web')).toBe(told)
    await situation.report('web', isReady)
    expect(await situation.verdict(services, 'web')).toBe('fine')
  })

  it('is ended since its liveness probe fails', async () => {
    const looping = status(
      { waiting: { reason: 'CrashLoopBackOff' } },
      { restartCount: 5, lastState: { terminated: { exitCode: 137, reason: 'Error' } } },
    )
    await using situation = await reported(looping, 'Running')
    await situation.create(events, 'web.1', probeEvent('Liveness probe failed: connection refused'))
    const killing = { ...probeEvent('Container main failed liveness probe, will be restarted'), reason: 'Killing' }
    await situation.create(events, 'web.2', killing)
    expect(await situation.cause(pods, 'web')).toMatch(
      /^LivenessProbeFailed of pod\/web: Liveness probe failed: connection refused; it has been restarted 5 times/,
    )
  })

  it('lacks a ConfigMap', async () => {
    await using situation = await Situation.start()
    const envFrom = [{ configMapRef: { name: 'settings' } }]
    await situation.create(deployments, 'web', web({ containers: [{ ...container, envFrom }] }))
    await situation.passes('20s')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^ConfigurationMissing of pod\/web-\S+: CreateContainerConfigError: configmap "settings" not found/,
    )
    expect(await situation.remedy(deployments, 'web')).toBe('create configmap/settings, or correct the name')
    await situation.create(configMaps, 'settings', { data: {} })
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('lacks a key of a ConfigMap', async () => {
    await using situation = await Situation.start()
    await situation.create(configMaps, 'settings', { data: { other: 'x' } })
    const env = [{ name: 'COLOUR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'colour' } } }]
    await situation.create(deployments, 'web', web({ containers: [{ ...container, env }] }))
    await situation.passes('20s')
    expect(await situation.remedy(deployments, 'web')).toBe(
      'add key colour to configmap/settings, or correct the name and the key',
    )
    await situation.patch(configMaps, 'settings', { data: { colour: 'blue' } })
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('ends as soon as it starts', async () => {
    await using situation = await Situation.start()
    await situation.create(deployments, 'web', web({ containers: [ending('1s', 127)] }))
    await situation.passes('2m')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^CrashLoop of pod\/web-\S+: it has been restarted \d+ times, and ended last with exit code 127 \(Error\)$/,
    )
    expect(await situation.remedy(deployments, 'web')).toMatch(
      /^its command is not found: .*coracle logs web-\S+ -c main --previous/,
    )
    await situation.replaceTemplate(deployments, 'web', templateOf())
    await situation.passes('3m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('waits for an init container that does not end', async () => {
    await using situation = await Situation.start()
    const waiting = { initContainers: [{ ...container, name: 'setup' }] }
    await situation.create(deployments, 'web', web(waiting))
    await situation.passes('2m')
    expect(await situation.cause(deployments, 'web')).toMatch(
      /^Initializing of pod\/web-\S+: it has been running for 119s|^Initializing of pod\/web-\S+: it has been running for 2m/,
    )
    await situation.replaceTemplate(
      deployments,
      'web',
      templateOf({ initContainers: [{ ...ending('1s', 0), name: 'setup' }] }),
    )
    await situation.passes('1m')
    expect(await situation.verdict(deployments, 'web')).toBe('fine')
  })

  it('is evicted by a node that is low on memory', async () => {
    await using situation = await reported(status({ terminated: { exitCode: 137 } }), 'Failed', {
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
    })
    expect(await situation.cause(pods, 'web')).toBe('EvictedByNode of pod/web: The node was low on resource: memory.')
    expect(await situation.remedy(pods, 'web')).toContain('nobody owns it')
  })
})
