import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ConfigMap,
  configMaps,
  events,
  nodes,
  type Pod,
  type PodSpec,
  pods,
  type Service,
  services,
} from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { type Clock, createLogger, type Environment, type LogLine, realEnvironment } from '@coracle/environment'
import { isMountPoint, mountsBelow } from '@coracle/environment/mounts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createKubelet, type KubeletOptions } from './kubelet.ts'
import type { AgentMetrics } from './metrics/agent-metrics.ts'
import { createAgentMetrics } from './metrics/index.ts'
import { createProcessRuntime } from './runtimes/process/process-runtime.ts'
import { FakeVolumeDrivers } from './testing/fake-volume-drivers.ts'
import { testContainer, testPod } from './testing/pods.ts'
import { temporaryDirectory } from './testing/temporary-directory.ts'
import { canMount } from './volumes/memory-volume.ts'

/** A node agent with real processes, and an API in memory. */
async function startedKubelet(
  metrics?: AgentMetrics,
  environment: Environment = realEnvironment(),
  more: Partial<KubeletOptions> = {},
) {
  const client = createFakeClient(environment)
  const dataDirectory = temporaryDirectory()
  const volumesDirectory = join(dataDirectory, 'pods')
  const drivers = new FakeVolumeDrivers(volumesDirectory)
  const runtime = createProcessRuntime({ environment, dataDirectory, nodeName: 'node-a' })
  const own = { volumesDirectory, volumeDrivers: drivers }
  const options = { client, environment, nodeName: 'node-a', runtime, ...own, ...more }
  const kubelet = createKubelet({ ...options, ...(metrics === undefined ? {} : { metrics: () => metrics }) })
  onTestFinished(async () => {
    await kubelet.stop({ containers: 'terminate', graceMaxMs: 0 })
    await runtime.close()
  })
  await kubelet.start()
  const create = async (pod: Pod) => {
    const { uid: _, ...metadata } = pod.metadata
    await client.create(pods, { ...pod, metadata })
  }
  const status = async () => (await client.get(pods, { namespace: 'default', name: 'web' })).status
  return { client, kubelet, create, status, volumesDirectory, drivers }
}

const mayMount = await canMount()
const needsRoot = { meta: { needs: 'root on Linux' } }

const shell = (script: string, more = {}) => testContainer({ command: ['sh', '-c', script], ...more })

describe('pods as processes', () => {
  it('run, log and succeed', async () => {
    const { client, kubelet, create, status } = await startedKubelet()
    const env = [
      { name: 'WHO', value: 'world' },
      { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ]
    await create(
      testPod({
        restartPolicy: 'Never',
        containers: [testContainer({ command: ['echo', 'hello $(WHO) at $(ADDRESS)'], env })],
      }),
    )
    await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
    const pod = await client.get(pods, { namespace: 'default', name: 'web' })
    let text = ''
    const options = { container: 'web', follow: true, previous: false, timestamps: false }
    for await (const piece of kubelet.logs(pod, options, new AbortController().signal))
      text += Buffer.from(piece).toString()
    expect(text).toBe(`hello world at ${pod.status?.podIP}\n`)
  })

  it('are counted by their agent: how they started, what was done for them, and how checks of them went', async () => {
    const metrics = createAgentMetrics(realEnvironment().clock)
    const { client, create, status } = await startedKubelet(metrics)
    const exec = (...command: readonly string[]) => ({ exec: { command }, periodSeconds: 1, timeoutSeconds: 30 })
    const probes = { readinessProbe: exec('true'), livenessProbe: exec('false') }
    const volumes = [{ name: 'data', emptyDir: {} }]
    await create(testPod({ volumes, containers: [shell('sleep 1000', probes)] }))
    const about = 'container="web",namespace="default",pod="web"'
    const uid = async () => (await client.get(pods, { namespace: 'default', name: 'web' })).metadata.uid
    await expect.poll(async () => (await status())?.containerStatuses?.[0]?.ready).toBe(true)
    const ready = `prober_probe_total{${about},pod_uid="${await uid()}",probe_type="Readiness",result="successful"} `
    await expect.poll(() => metrics.probes.text()).toContain(ready)
    await expect.poll(() => metrics.probes.text()).toContain('probe_type="Liveness",result="failed"} ')
    expect(metrics.probes.text()).toMatch(/^prober_probe_duration_seconds_count\{.*probe_type="Readiness"\} [1-9]/m)
    // The check that fails ends the container, which starts anew.
    await expect
      .poll(() => metrics.registry.text())
      .toMatch(
        /^kubelet_terminated_containers_total\{container_type="container",exit_code="\d+",reason="Error"\} [1-9]/m,
      )
    const text = metrics.registry.text()
    expect(text).toMatch(/^kubelet_started_containers_total\{container_type="container"\} [1-9]/m)
    expect(text).toContain('kubelet_pod_start_duration_seconds_count 1\n')
    expect(text).toContain('kubelet_pod_worker_duration_seconds_count{operation_type="create"} 1\n')
    expect(text).toMatch(
      /^storage_operation_duration_seconds_count\{.*status="success",volume_plugin="kubernetes.io\/empty-dir"\} 1$/m,
    )
    await client.delete(pods, { namespace: 'default', name: 'web' }, { gracePeriodSeconds: 0 })
    await expect.poll(() => metrics.probes.text()).not.toContain(about)
  })

  it.skipIf(!mayMount)('are not started with users of their own, and say so', needsRoot, async () => {
    const { client, create } = await startedKubelet()
    await create(testPod({ hostUsers: false, containers: [shell('true')] }))
    const told = () => client.stored(events).map(({ message }) => message)
    const why = "can't set `spec.hostUsers: false`, runtime does not support user namespaces"
    await expect.poll(told).toContain(`Failed to create pod sandbox: ${why}`)
  })

  it('are not started with mounts that have to be read-only with what is below them', async () => {
    const { create, status } = await startedKubelet()
    const mount = { name: 'data', mountPath: 'data', readOnly: true, recursiveReadOnly: 'Enabled' } as const
    const volumes = [{ name: 'data', emptyDir: {} }]
    await create(testPod({ volumes, containers: [shell('true', { volumeMounts: [mount] })] }))
    const waiting = async () => (await status())?.containerStatuses?.[0]?.state?.waiting
    await expect.poll(async () => (await waiting())?.reason).toBe('CreateContainerConfigError')
    expect((await waiting())?.message).toContain('volume "data" requested recursive read-only mode, but it is not')
  })

  it.each<[string, string, Partial<KubeletOptions>]>([
    ['at its address, unless it is known to lead nowhere', '10.96.0.1:443', {}],
    ['where a server is', '127.0.0.1:6443', { apiServer: () => ({ address: '127.0.0.1', port: 6443 }) }],
  ])('find the API in their environment: %s', async (_, expected, more) => {
    const { client, kubelet, create, status } = await startedKubelet(undefined, undefined, more)
    await client.create<Service>(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: 'default', name: 'kubernetes' },
      spec: { clusterIP: '10.96.0.1', ports: [{ port: 443 }] },
    } as Service)
    const printed = ['sh', '-c', 'echo $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT']
    await create(testPod({ restartPolicy: 'Never', containers: [testContainer({ command: printed })] }))
    await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
    const pod = await client.get(pods, { namespace: 'default', name: 'web' })
    let text = ''
    const options = { container: 'web', follow: true, previous: false, timestamps: false }
    for await (const piece of kubelet.logs(pod, options, new AbortController().signal))
      text += Buffer.from(piece).toString()
    expect(text).toBe(`${expected}\n`)
  })

  describe('that have volumes of drivers', () => {
    const volumes = [{ name: 'v', csi: { driver: 'd' } }]
    const withVolume = (script: string) => testPod({ restartPolicy: 'Never', volumes, containers: [shell(script)] })
    const told = (client: FakeClient) => client.stored(events).map(({ message }) => message)

    it('wait for them, silently where that is as it should be', async () => {
      const { client, create, status, drivers } = await startedKubelet()
      drivers.problem = { problem: 'not attached yet', isWaiting: true }
      await create(withVolume('exit 0'))
      await expect.poll(() => drivers.asked.length).toBeGreaterThan(2)
      expect((await status())?.phase).toBe('Pending')
      drivers.problem = undefined
      await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
      expect(told(client)).not.toContain('not attached yet')
      expect(drivers.asked[0]).toBe('start')
    })

    it('are rid of them when they have ended, however long they stay', async () => {
      const { create, status, drivers } = await startedKubelet()
      await create(withVolume('exit 0'))
      await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
      await expect.poll(() => drivers.asked.at(-1)).toBe('unmount')
    })

    it('are not deleted from the API before these are gone', async () => {
      const { client, create, status, drivers } = await startedKubelet()
      const pod = withVolume('sleep 1000')
      await create({ ...pod, metadata: { ...pod.metadata, finalizers: ['example.com/stay'] } })
      await expect.poll(async () => (await status())?.phase).toBe('Running')
      client.intercept(({ verb, plural }) => {
        if (verb === 'delete' && plural === 'pods') drivers.asked.push('delete')
      })
      drivers.refusal = 'the driver is away'
      await client.delete(pods, { namespace: 'default', name: 'web' })
      await expect.poll(() => drivers.asked.at(-1)).toBe('unmount')
      expect(drivers.asked.filter((asked) => asked === 'delete')).toHaveLength(1)
      drivers.refusal = undefined
      const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const
      await client.patch(pods, { namespace: 'default', name: 'web' }, patch)
      await expect.poll(() => drivers.asked.slice(-2)).toEqual(['unmount', 'delete'])
    })

    it('are told of once while these cannot be taken away', async () => {
      const logged: LogLine[] = []
      const logger = createLogger((line) => logged.push(line), 'warn')
      const { client, create, status, drivers } = await startedKubelet(undefined, { ...realEnvironment(), logger })
      await create(withVolume('exit 0'))
      drivers.refusal = 'the driver is away'
      await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
      const unmounts = () => drivers.asked.filter((asked) => asked === 'unmount').length
      await expect.poll(unmounts).toBe(1)
      const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const
      await client.patch(pods, { namespace: 'default', name: 'web' }, patch)
      await expect.poll(unmounts).toBe(2)
      expect(logged.map(({ message, fields }) => `${message}: ${fields.error}`)).toEqual([
        'volumes of a pod have to stay for now: the driver is away',
      ])
    })

    it('do not hold up the end of the agent while their driver hangs', async () => {
      const { kubelet, create, drivers } = await startedKubelet()
      drivers.hangs = true
      await create(withVolume('exit 0'))
      await expect.poll(() => drivers.asked).toEqual(['start', 'mount v of its own'])
      await kubelet.stop({ containers: 'keep' })
      expect(drivers.asked.at(-1)).toBe('stop')
    })

    it('have them taken away when the node is switched off, and keep them while only its agent is', async () => {
      const { kubelet, create, status, drivers } = await startedKubelet()
      await create(withVolume('sleep 1000'))
      await expect.poll(async () => (await status())?.phase).toBe('Running')
      await kubelet.stop({ containers: 'keep' })
      expect(drivers.asked.at(-1)).toBe('stop')
      await kubelet.stop({ containers: 'terminate', graceMaxMs: 0 })
      expect(drivers.asked.at(-1)).toBe('stop and unmount')
    })
  })

  it.skipIf(!mayMount)('have volumes in memory, which give it back when all has ended', needsRoot, async () => {
    const { client, kubelet, create, status, volumesDirectory } = await startedKubelet()
    const uid = async (name: string) => (await client.get(pods, { namespace: 'default', name })).metadata.uid ?? ''
    const inMemory = (script: string, name: string) =>
      testPod(
        {
          restartPolicy: 'Never',
          volumes: [{ name: 'fast', emptyDir: { medium: 'Memory' } }],
          containers: [shell(script, { volumeMounts: [{ name: 'fast', mountPath: 'fast' }] })],
        },
        { metadata: { name } },
      )
    await create(inMemory('echo here >fast/file; cat fast/file; until [ -e fast/end ]; do sleep 0.02; done', 'web'))
    const path = join(volumesDirectory, await uid('web'), 'fast')
    await expect.poll(() => existsSync(join(path, 'file'))).toBe(true)
    expect(await isMountPoint(path)).toBe(true)
    writeFileSync(join(path, 'end'), '')
    await expect.poll(async () => (await status())?.phase).toBe('Succeeded')
    await expect.poll(() => isMountPoint(path)).toBe(false)
    await create(inMemory('sleep 1000', 'running'))
    const running = join(volumesDirectory, await uid('running'), 'fast')
    await expect.poll(() => existsSync(running) && isMountPoint(running)).toBe(true)
    await kubelet.stop({ containers: 'terminate', graceMaxMs: 0 })
    expect(await mountsBelow(volumesDirectory)).toEqual([])
  })

  it.each<[string, Partial<PodSpec>, string, string]>([
    [
      'a volume',
      { volumes: [{ name: 'data', emptyDir: { sizeLimit: '64Ki' } }] },
      'data/big',
      'Usage of EmptyDir volume "data" exceeds the limit "64Ki". ',
    ],
    [
      'the directory that they start in',
      {},
      'big',
      'Pod ephemeral local storage usage exceeds the total limit of containers 64Ki. ',
    ],
  ])('are evicted when there is more in %s than they may store', async (_, spec, path, message) => {
    const real = realEnvironment()
    const clock: Clock = {
      ...real.clock,
      setTimer: (ms, fire, options) =>
        real.clock.setTimer(options?.housekeeping === true ? ms / 100 : ms, fire, options),
    }
    const { client, create, status } = await startedKubelet(undefined, { ...real, clock })
    const { volumes = [] } = spec
    const fields =
      volumes.length > 0
        ? { volumeMounts: [{ name: 'data', mountPath: 'data' }] }
        : { resources: { limits: { 'ephemeral-storage': '64Ki' } } }
    const script = `dd if=/dev/zero of=${path} bs=1k count=200 2>/dev/null; exec sleep 1000`
    await create(testPod({ ...spec, containers: [shell(script, fields)] }))
    await expect.poll(async () => (await status())?.phase).toBe('Failed')
    const found = await status()
    expect(found).toMatchObject({ reason: 'Evicted', message })
    expect(found?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(143)
    const told = (await client.list(events, { namespace: 'default' })).items.filter(
      ({ reason }) => reason === 'Evicted',
    )
    expect(told).toMatchObject([{ type: 'Warning', message }])
  })

  it('read their volumes, which follow what they show and go with the pod', async () => {
    const { client, create, status, volumesDirectory } = await startedKubelet()
    const metadata = { namespace: 'default', name: 'settings' }
    await client.create<ConfigMap>(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { theme: 'dark' },
    })
    const labels = [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }]
    const script = 'cp config/theme shared/; until grep -q blue facts/labels; do sleep 0.05; done; exit 7'
    const volumeMounts = ['config', 'shared', 'facts'].map((name) => ({ name, mountPath: name }))
    await create(
      testPod({
        restartPolicy: 'Never',
        volumes: [
          { name: 'config', configMap: { name: 'settings' } },
          { name: 'shared', emptyDir: {} },
          { name: 'facts', downwardAPI: { items: labels } },
        ],
        containers: [shell(script, { volumeMounts })],
      }),
    )
    const [uid = ''] = await expect
      .poll(() => readdirSync(volumesDirectory))
      .toHaveLength(1)
      .then(() => readdirSync(volumesDirectory))
    const copied = join(volumesDirectory, uid, 'shared', 'theme')
    await expect.poll(() => existsSync(copied) && readFileSync(copied, 'utf8')).toBe('dark')
    const key = { namespace: 'default', name: 'web' }
    await client.patch(pods, key, { type: 'merge', body: { metadata: { labels: { colour: 'blue' } } } })
    await expect.poll(async () => (await status())?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(7)
    await client.delete(pods, key, { gracePeriodSeconds: 0 })
    await expect.poll(() => readdirSync(volumesDirectory)).toEqual([])
  })

  it('get variables from a file that another of their containers has written', async () => {
    const { create, status } = await startedKubelet()
    const volumeMounts = [{ name: 'shared', mountPath: 'shared' }]
    const fileKeyRef = { volumeName: 'shared', path: 'app.env', key: 'CODE', optional: false }
    await create(
      testPod({
        restartPolicy: 'Never',
        volumes: [{ name: 'shared', emptyDir: {} }],
        initContainers: [shell(`echo "CODE='7'" > shared/app.env`, { name: 'writer', volumeMounts })],
        containers: [shell('exit $CODE', { env: [{ name: 'CODE', valueFrom: { fileKeyRef } }] })],
      }),
    )
    await expect.poll(async () => (await status())?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(7)
  })

  it('show why they cannot start', async () => {
    const { create, status } = await startedKubelet()
    await create(
      testPod({
        containers: [
          testContainer(),
          testContainer({ name: 'lost', command: ['/no/such'] }),
          shell('true', { name: 'mounting', volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
        ],
      }),
    )
    const reasons = async () =>
      Object.fromEntries(
        (await status())?.containerStatuses?.map(({ name, state }) => [name, state?.waiting?.reason]) ?? [],
      )
    await expect
      .poll(reasons)
      .toEqual({ web: 'CreateContainerError', lost: 'CrashLoopBackOff', mounting: 'CreateContainerConfigError' })
    const lost = (await status())?.containerStatuses?.find(({ name }) => name === 'lost')
    expect(lost?.lastState?.terminated).toMatchObject({
      exitCode: 128,
      reason: 'StartError',
      message: expect.stringContaining('/no/such'),
    })
  })

  it('are not ready for a moment when their program ends at once', async () => {
    const { client, create } = await startedKubelet()
    const readiness = new Set<boolean | undefined>()
    const watch = await client.watch(pods, { namespace: 'default' })
    onTestFinished(() => watch.close())
    const restarted = (async () => {
      for await (const { type, object } of watch) {
        if (type !== 'ADDED' && type !== 'MODIFIED') continue
        const [container] = object.status?.containerStatuses ?? []
        readiness.add(container?.ready)
        if ((container?.restartCount ?? 0) > 0) return
      }
    })()
    await create(testPod({ containers: [shell('exit 1')] }))
    await restarted
    expect(readiness).not.toContain(true)
  })

  it('become ready when their probe says so, and are restarted when it says so', async () => {
    const { create, status } = await startedKubelet()
    const directory = temporaryDirectory()
    const [ready, broken] = [join(directory, 'ready'), join(directory, 'broken')]
    const probes = {
      readinessProbe: { exec: { command: ['test', '-e', ready] }, periodSeconds: 1, timeoutSeconds: 30 },
      // Removes what it finds, so that it fails once whenever it is looked at.
      livenessProbe: {
        exec: { command: ['sh', '-c', `! rm ${broken}`] },
        periodSeconds: 1,
        timeoutSeconds: 30,
        failureThreshold: 1,
      },
    }
    await create(testPod({ terminationGracePeriodSeconds: 20, containers: [shell('sleep 1000', probes)] }))
    const web = async () => (await status())?.containerStatuses?.[0]
    await expect.poll(web).toMatchObject({ state: { running: {} }, ready: false })
    writeFileSync(ready, '')
    await expect.poll(web).toMatchObject({ state: { running: {} }, ready: true, restartCount: 0 })
    writeFileSync(broken, '')
    await expect
      .poll(web)
      .toMatchObject({ state: { running: {} }, restartCount: 1, lastState: { terminated: { exitCode: 143 } } })
  })

  it('run their preStop hook before they are stopped, and their postStart hook after they have started', async () => {
    const { client, kubelet, create, status } = await startedKubelet()
    const lifecycle = {
      postStart: { exec: { command: ['touch', 'started'] } },
      preStop: { exec: { command: ['touch', 'stopping'] } },
    }
    const script =
      'until [ -e started ]; do sleep 0.02; done; echo started; until [ -e stopping ]; do sleep 0.02; done; echo stopping; sleep 1000'
    await create(testPod({ containers: [shell(script, { lifecycle })] }, { metadata: { finalizers: ['test/grace'] } }))
    await expect.poll(async () => (await status())?.phase).toBe('Running')
    const pod = await client.get(pods, { namespace: 'default', name: 'web' })
    const text = (async () => {
      let seen = ''
      const options = { container: '', follow: true, previous: false, timestamps: false }
      for await (const piece of kubelet.logs(pod, options, new AbortController().signal)) {
        seen += Buffer.from(piece).toString()
        if (seen === 'started\n') await client.delete(pods, { namespace: 'default', name: 'web' })
      }
      return seen
    })()
    expect((await text).startsWith('started\n')).toBe(true)
    await expect.poll(async () => (await status())?.phase).toBe('Failed')
    expect((await status())?.containerStatuses?.[0]?.state?.terminated?.exitCode).toBe(143)
  })

  it.each([
    ['a regular container', 'web'],
    ['a sidecar', 'side'],
    ['an init container', 'last'],
  ])('all start anew where %s asks for it by its exit code', async (_what, cause) => {
    const { create, status } = await startedKubelet()
    const volumeMounts = [{ name: 'shared', mountPath: 'shared' }]
    const restartPolicyRules = [
      { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
    ] as const
    // The regular containers run by then, unless they wait for it themselves.
    const ready = cause === 'last' ? 'true' : '[ -e shared/web ] && [ -e shared/other ]'
    /** Ends so the first time; what it does otherwise is `script`. */
    const container = (name: string, script: string, more = {}) => {
      const first = `[ -e shared/again ] || { until ${ready}; do sleep 0.02; done; touch shared/again; exit 42; };`
      const rules = { restartPolicy: 'Never', restartPolicyRules, ...more }
      return name === cause
        ? shell(`touch shared/${name}; ${first} ${script}`, { name, volumeMounts, ...rules })
        : shell(`touch shared/${name}; ${script}`, { name, volumeMounts, ...more })
    }
    await create(
      testPod({
        restartPolicy: 'Never',
        volumes: [{ name: 'shared', emptyDir: {} }],
        initContainers: [
          container('side', 'sleep 1000', { restartPolicy: 'Always' }),
          container('first', 'exit 0'),
          container('last', 'exit 0'),
        ],
        containers: [container('web', 'sleep 1000'), container('other', 'sleep 1000')],
      }),
    )
    const seen = async () => {
      const { phase, initContainerStatuses = [], containerStatuses = [] } = (await status()) ?? {}
      return [
        phase,
        ...[...initContainerStatuses, ...containerStatuses].map(
          ({ name, restartCount, lastState }) => `${name} ${restartCount} ${lastState?.terminated?.reason ?? '-'}`,
        ),
      ]
    }
    const again = '1 RestartingAllContainers'
    const regular = cause === 'last' ? '0 -' : again
    await expect
      .poll(seen)
      .toEqual(['Running', `side ${again}`, `first ${again}`, `last ${again}`, `other ${regular}`, `web ${regular}`])
  })

  it('run on a node that is this host', async () => {
    const { client } = await startedKubelet()
    const { status } = await client.get(nodes, { name: 'node-a' })
    expect(status?.nodeInfo?.containerRuntimeVersion).toBe('process://0.1.0')
    expect(Number(status?.capacity?.cpu)).toBeGreaterThan(0)
  })
})
