import { once } from 'node:events'
import { readFile, statfs } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { type Pod, type PodQosClass, simulatedUsageAnnotation } from '@coracle/api'
import { realEnvironment, VirtualClock } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { observeTasks } from '../eviction/supplies.ts'
import { createAgentMetrics } from '../metrics/index.ts'
import { type NodeFacts, simulatedFacts } from '../node/node-facts.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { createSimulatedRuntime } from '../runtimes/simulated/simulated-runtime.ts'
import { startMs, testContainer, testPod, testRun, testSandbox } from '../testing/pods.ts'
import { sandboxConfig } from '../testing/sandboxes.ts'
import { createLocalAgent } from './local-agent.ts'
import type { ServedNode } from './served-node.ts'

const facts: NodeFacts = { ...simulatedFacts('node-a'), machineId: 'machine', bootId: 'boot', osImage: 'Debian' }
const usage = { podMetrics: async () => [], nodeMetrics: async () => undefined }

/** What a node answers at a path below `/metrics`: its lines but for those about metrics, without the times of samples. */
function scraping(node: Partial<ServedNode> & Pick<ServedNode, 'runtime'>, clock = new VirtualClock()) {
  const served = { nodeName: 'node-a', nodeAddress: '10.0.0.1', facts, usage, pods: () => [], ...node }
  const agent = createLocalAgent({ environment: { ...realEnvironment(), clock }, node: served as ServedNode })
  onTestFinished(agent.close)
  const body = async (path: string) => {
    const request = httpRequest({ path: `/metrics${path}`, createConnection: () => agent.connect() as never }).end()
    const [response] = await once(request, 'response')
    expect([response.statusCode, response.headers['content-type']]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    return text(response)
  }
  const summary = async (query = '') => {
    const request = httpRequest({
      path: `/stats/summary${query}`,
      createConnection: () => agent.connect() as never,
    }).end()
    const [response] = await once(request, 'response')
    return JSON.parse(await text(response))
  }
  const lines = async (path: string, about = /./) => {
    const found = (await body(path)).split('\n').filter((line) => !line.startsWith('#') && about.test(line))
    return found.map((line) => line.replace(/ (\S+) \d{13}$/, ' $1'))
  }
  return { body, lines, summary, clock }
}

const podOf = (fields: Partial<Pod['metadata']> = {}, qosClass: PodQosClass = 'Burstable') =>
  testPod(
    {
      containers: [testContainer({ resources: { requests: { cpu: '500m' }, limits: { cpu: '1', memory: '64Mi' } } })],
    },
    { metadata: fields, status: { phase: 'Running', qosClass } },
  )

/** A runtime that has one container of the test pod running. */
const fakeRuntime = (more: Partial<Runtime>): Runtime =>
  ({
    name: 'fake',
    version: '1',
    runsProcesses: true,
    listContainers: async () => [testRun({ id: 'c0' })],
    listPodSandboxes: async () => [testSandbox({ id: 's0' })],
    containerStats: async () => new Map([['c0', { cpuMs: 1500, memoryBytes: 1000 }]]),
    ...more,
  }) as Partial<Runtime> as Runtime

const stall = (seconds: number) => ({ totalNs: seconds * 1e9, avg10: 1.5, avg60: 0, avg300: 0 })

describe('/stats/summary', () => {
  const summaryOf = async (
    runtime: Runtime,
    said: Readonly<Record<string, string>> = { cpu: '1', memory: '1Ki' },
    query = '',
  ) => {
    const podUsage = { metadata: { namespace: 'default', name: 'web' }, containers: [{ name: 'web', usage: said }] }
    const web = podOf()
    const { summary } = scraping({
      runtime,
      pods: () => [web],
      usage: { podMetrics: async () => [podUsage], nodeMetrics: async () => ({ usage: said }) } as never,
    })
    const { node, pods } = await summary(query)
    const [{ containers, ...pod }] = pods
    return { node, pod, container: containers[0] }
  }
  const time = '2026-01-01T00:00:00Z'

  it('tells all that is known of memory, swap, disks, networks and processes', async () => {
    const stats = {
      ...{ cpuMs: 1, memoryBytes: 1024, memoryUsageBytes: 2048, memoryRssBytes: 512, memorySwapBytes: 64 },
      ...{ pageFaults: 7, majorPageFaults: 2, processes: 3 },
      writableLayer: { mountpoint: '/', usedBytes: 9, inodesUsed: 4 },
    }
    const interfaces = [{ name: 'eth0', received: { bytes: 1, errors: 2 }, sent: { bytes: 3, errors: 4 } }]
    const runtime = fakeRuntime({
      containerStats: async () => new Map([['c0', stats]]),
      podSandboxStats: async () => new Map([['s0', { interfaces, processes: 5 }]]),
    })
    const { pod, container } = await summaryOf(runtime)
    const memory = {
      ...{ time, availableBytes: 64 * 1024 ** 2 - 1024, usageBytes: 2048, workingSetBytes: 1024, rssBytes: 512 },
      ...{ pageFaults: 7, majorPageFaults: 2 },
    }
    const swap = { time, swapUsageBytes: 64 }
    expect(container).toMatchObject({ memory, swap, rootfs: { time, usedBytes: 9, inodesUsed: 4 } })
    const eth0 = { name: 'eth0', rxBytes: 1, rxErrors: 2, txBytes: 3, txErrors: 4 }
    expect(pod).toMatchObject({
      ...{ memory, swap, network: { time, ...eth0, interfaces: [eth0] }, process_stats: { process_count: 5 } },
    })
  })

  it('leaves out what is not known', async () => {
    const { pod, container } = await summaryOf(fakeRuntime({}))
    expect([Object.keys(container), Object.keys(pod)]).toEqual([
      ['name', 'startTime', 'cpu', 'memory'],
      ['podRef', 'startTime', 'cpu', 'memory'],
    ])
    expect(container.memory).toEqual({
      ...{ time, availableBytes: 64 * 1024 ** 2 - 1024, usageBytes: 1024, workingSetBytes: 1024 },
    })
  })

  it.each([
    ['true', ['name', 'startTime', 'cpu', 'memory', 'swap']],
    ['false', ['name', 'startTime', 'cpu', 'memory', 'swap', 'rootfs']],
  ])('tells no more than what is asked for: only_cpu_and_memory=%s', async (only, keys) => {
    const stats = { cpuMs: 1, memoryBytes: 1, memorySwapBytes: 1, writableLayer: { mountpoint: '/', usedBytes: 9 } }
    const runtime = fakeRuntime({
      containerStats: async () => new Map([['c0', stats]]),
      podSandboxStats: async () => new Map([['s0', { interfaces: [] }]]),
    })
    const { pod, node, container } = await summaryOf(runtime, undefined, `?only_cpu_and_memory=${only}`)
    expect(Object.keys(container)).toEqual(keys)
    expect([pod.network, node.rlimit].every((each) => each === undefined)).toBe(only === 'true')
    expect([pod.podRef.name, node.nodeName]).toEqual(['web', 'node-a'])
  })

  it('counts the processes of a pod by its containers where nobody counts those of the pod', async () => {
    const stats = { cpuMs: 1, memoryBytes: 1, processes: 3 }
    const { pod } = await summaryOf(fakeRuntime({ containerStats: async () => new Map([['c0', stats]]) }))
    expect(pod.process_stats).toEqual({ process_count: 3 })
  })

  it('tells how much memory a node has left, and how many tasks it may have', async () => {
    const { node } = await summaryOf(fakeRuntime({}), { cpu: '1', memory: '1Gi' })
    expect(node.memory).toMatchObject({ availableBytes: 255 * 1024 ** 3, workingSetBytes: 1024 ** 3 })
    const tasks = await observeTasks()
    expect(node.rlimit?.maxpid).toBe(tasks?.capacity)
    expect(node.rlimit?.curproc > 0).toBe(tasks !== undefined)
  })

  it('tells how long tasks have waited, where that is counted', async () => {
    const stalls = { some: stall(3), full: stall(1) }
    const psi = {
      full: { total: 1e9, avg10: 1.5, avg60: 0, avg300: 0 },
      some: { total: 3e9, avg10: 1.5, avg60: 0, avg300: 0 },
    }
    const used = { cpu: '1', memory: '1Ki' }
    const podUsage = { metadata: { namespace: 'default', name: 'web' }, containers: [{ name: 'web', usage: used }] }
    const runtime = fakeRuntime({
      containerStats: async () =>
        new Map([['c0', { cpuMs: 1, memoryBytes: 1, pressure: { cpu: stalls, memory: stalls } }]]),
      podSandboxStats: async () => new Map([['s0', { pressure: { cpu: stalls, io: stalls } }]]),
    })
    const web = podOf()
    const { summary } = scraping({
      runtime,
      pods: () => [web],
      usage: { podMetrics: async () => [podUsage], nodeMetrics: async () => ({ usage: used }) } as never,
    })
    const { node, pods } = await summary()
    const [{ containers, ...pod }] = pods
    expect([containers[0].cpu.psi, containers[0].memory.psi, containers[0].io]).toEqual([psi, psi, undefined])
    expect([pod.cpu.psi, pod.memory.psi, pod.io.psi]).toEqual([psi, undefined, psi])
    const counts = await readFile('/proc/pressure/io', 'utf8').catch(() => '')
    expect(node.io !== undefined).toBe(counts !== '')
  })
})

describe('/metrics/cadvisor', () => {
  const id = '/kubepods/burstable/poduid-1/c0'
  const labels = `container="web",id="${id}",image="nginx:1",name="c0",namespace="default",pod="web"`

  it('tells what a runtime knows of a container, and leaves out what it does not', async () => {
    const { lines, body } = scraping({ runtime: fakeRuntime({}), pods: () => [podOf()] })
    expect(await lines('/cadvisor', /pod="web"/)).toEqual([
      `container_last_seen{${labels}} ${startMs / 1000}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels}} 1.5`,
      `container_memory_working_set_bytes{${labels}} 1000`,
      `container_start_time_seconds{${labels}} ${startMs / 1000}`,
    ])
    const root = 'container="",id="/",image="",name="",namespace="",pod=""'
    // What tasks of the host have waited for only some kernels count.
    expect(
      (await lines('/cadvisor', /^(?!container_pressure).*id="\/"/)).map((line) => line.replace(/ \S+$/, '')),
    ).toEqual([
      `container_last_seen{${root}}`,
      `container_cpu_usage_seconds_total{cpu="total",${root}}`,
      `container_memory_working_set_bytes{${root}}`,
    ])
    const machine = 'boot_id="boot",machine_id="machine",system_uuid="machine"'
    expect(await lines('/cadvisor', /^(machine|cadvisor|container_scrape)/)).toEqual([
      'cadvisor_version_info{cadvisorRevision="",cadvisorVersion="",dockerVersion="",kernelVersion="6.12.0",osVersion="Debian"} 1',
      'container_scrape_error 0',
      `machine_cpu_cores{${machine}} 32`,
      `machine_memory_bytes{${machine}} ${256 * 1024 ** 3}`,
      'machine_scrape_error 0',
    ])
    expect(await body('/cadvisor')).toContain(
      '# HELP container_cpu_usage_seconds_total CPU time used so far, in seconds.\n# TYPE container_cpu_usage_seconds_total counter\n',
    )
  })

  it('tells all that a container runtime knows, and what containers may use', async () => {
    const stats = {
      cpuMs: 3000,
      cpuUserMs: 2000,
      cpuSystemMs: 1000,
      memoryBytes: 5,
      memoryUsageBytes: 7,
      memoryRssBytes: 4,
      memorySwapBytes: 1,
      memoryCacheBytes: 3,
      memoryMappedBytes: 2,
      memoryActiveFileBytes: 11,
      memoryInactiveFileBytes: 12,
      memoryKernelBytes: 13,
      memoryPeakBytes: 14,
      memoryLimitHits: 15,
      pageFaults: 16,
      majorPageFaults: 17,
      disks: [{ device: 'no:where', readBytes: 21, writtenBytes: 22, reads: 23, writes: 24 }],
      oomKills: 1,
      cpuPeriods: 10,
      cpuThrottledPeriods: 4,
      cpuThrottledMs: 250,
      processes: 2,
      threads: 3,
      writableLayer: { mountpoint: '/nowhere', usedBytes: 9 },
    }
    const runtime = fakeRuntime({
      isolates: true,
      containerStats: async () => new Map([['c0', stats]]),
      podSandboxStats: async () =>
        new Map([
          [
            's0',
            {
              cpuMs: 4000,
              memoryBytes: 6,
              interfaces: [
                {
                  name: 'eth0',
                  received: { bytes: 10, errors: 1, packets: 3, dropped: 4 },
                  sent: { bytes: 20, errors: 2 },
                },
              ],
            },
          ],
        ]),
    })
    const { lines } = scraping({ runtime, pods: () => [podOf()] })
    const device = (await lines('/cadvisor', /^container_fs/))[0]?.match(/device="([^"]*)"/)?.[1]
    expect(await lines('/cadvisor', /container="web"/)).toEqual([
      `container_last_seen{${labels}} ${startMs / 1000}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels}} 3`,
      `container_cpu_user_seconds_total{${labels}} 2`,
      `container_cpu_system_seconds_total{${labels}} 1`,
      `container_memory_working_set_bytes{${labels}} 5`,
      `container_memory_usage_bytes{${labels}} 7`,
      `container_memory_rss{${labels}} 4`,
      `container_memory_swap{${labels}} 1`,
      `container_memory_cache{${labels}} 3`,
      `container_memory_mapped_file{${labels}} 2`,
      `container_memory_total_active_file_bytes{${labels}} 11`,
      `container_memory_total_inactive_file_bytes{${labels}} 12`,
      `container_memory_kernel_usage{${labels}} 13`,
      `container_memory_max_usage_bytes{${labels}} 14`,
      `container_memory_failcnt{${labels}} 15`,
      `container_oom_events_total{${labels}} 1`,
      `container_cpu_cfs_periods_total{${labels}} 10`,
      `container_cpu_cfs_throttled_periods_total{${labels}} 4`,
      `container_cpu_cfs_throttled_seconds_total{${labels}} 0.25`,
      `container_processes{${labels}} 2`,
      `container_threads{${labels}} 3`,
      `container_memory_failures_total{failure_type="pgfault",scope="container",${labels}} 16`,
      `container_memory_failures_total{failure_type="pgmajfault",scope="container",${labels}} 17`,
      `container_memory_failures_total{failure_type="pgfault",scope="hierarchy",${labels}} 16`,
      `container_memory_failures_total{failure_type="pgmajfault",scope="hierarchy",${labels}} 17`,
      `container_start_time_seconds{${labels}} ${startMs / 1000}`,
      `container_spec_cpu_period{${labels}} 100000`,
      `container_spec_cpu_quota{${labels}} 100000`,
      `container_spec_cpu_shares{${labels}} 512`,
      `container_spec_memory_limit_bytes{${labels}} ${64 * 1024 ** 2}`,
      `container_fs_usage_bytes{device="${device}",${labels}} 9`,
      `container_fs_reads_bytes_total{device="",${labels}} 21`,
      `container_fs_reads_total{device="",${labels}} 23`,
      `container_fs_writes_bytes_total{device="",${labels}} 22`,
      `container_fs_writes_total{device="",${labels}} 24`,
    ])
    const pod = 'container="",id="/kubepods/burstable/poduid-1",image="",name="",namespace="default",pod="web"'
    expect(await lines('/cadvisor', /id="[^"]*poduid-1"/)).toEqual([
      `container_last_seen{${pod}} ${startMs / 1000}`,
      `container_cpu_usage_seconds_total{cpu="total",${pod}} 4`,
      `container_memory_working_set_bytes{${pod}} 6`,
      `container_start_time_seconds{${pod}} ${startMs / 1000}`,
    ])
    const sandbox = 'container="",id="/kubepods/burstable/poduid-1/s0",image="",name="s0",namespace="default",pod="web"'
    expect(await lines('/cadvisor', /^container_network/)).toEqual([
      `container_network_receive_bytes_total{interface="eth0",${sandbox}} 10`,
      `container_network_receive_packets_total{interface="eth0",${sandbox}} 3`,
      `container_network_receive_packets_dropped_total{interface="eth0",${sandbox}} 4`,
      `container_network_receive_errors_total{interface="eth0",${sandbox}} 1`,
      `container_network_transmit_bytes_total{interface="eth0",${sandbox}} 20`,
      `container_network_transmit_errors_total{interface="eth0",${sandbox}} 2`,
    ])
  })

  it('tells how long tasks have waited, of containers and pods', async () => {
    const stalls = (some: number, full: number) => ({ some: stall(some), full: stall(full) })
    const pressure = { cpu: stalls(3, 1), memory: stalls(5, 2), io: stalls(7, 4) }
    const runtime = fakeRuntime({
      containerStats: async () => new Map([['c0', { cpuMs: 1, memoryBytes: 1, pressure }]]),
      podSandboxStats: async () => new Map([['s0', { pressure: { io: stalls(9, 8) } }]]),
    })
    const { lines } = scraping({ runtime, pods: () => [podOf()] })
    expect(await lines('/cadvisor', /^container_pressure.*container="web"/)).toEqual([
      `container_pressure_cpu_stalled_seconds_total{${labels}} 1`,
      `container_pressure_cpu_waiting_seconds_total{${labels}} 3`,
      `container_pressure_memory_stalled_seconds_total{${labels}} 2`,
      `container_pressure_memory_waiting_seconds_total{${labels}} 5`,
      `container_pressure_io_stalled_seconds_total{${labels}} 4`,
      `container_pressure_io_waiting_seconds_total{${labels}} 7`,
    ])
    const pod = 'container="",id="/kubepods/burstable/poduid-1",image="",name="",namespace="default",pod="web"'
    expect(await lines('/cadvisor', /^container_pressure.*id="[^"]*poduid-1"/)).toEqual([
      `container_pressure_io_stalled_seconds_total{${pod}} 8`,
      `container_pressure_io_waiting_seconds_total{${pod}} 9`,
    ])
  })

  it('names pods as their control groups are named, by their class of service', async () => {
    const paths = async (qosClass: PodQosClass) => {
      const { lines } = scraping({ runtime: fakeRuntime({}), pods: () => [podOf({}, qosClass)] })
      return (await lines('/cadvisor', /^container_last_seen.*pod="web"/))[0]?.match(/id="([^"]+)"/)?.[1]
    }
    expect(await paths('Guaranteed')).toBe('/kubepods/poduid-1/c0')
    expect(await paths('BestEffort')).toBe('/kubepods/besteffort/poduid-1/c0')
  })

  it('writes images with any character so that they can be read', async () => {
    const listContainers = async () => [testRun({ image: 'a"b\\c\nd' })]
    const { lines } = scraping({ runtime: fakeRuntime({ listContainers }), pods: () => [podOf()] })
    expect((await lines('/cadvisor', /^container_last_seen.*pod="web"/))[0]).toContain('image="a\\"b\\\\c\\nd"')
  })

  it('adds up what simulated containers say they use, which never falls', async () => {
    const clock = new VirtualClock()
    const runtime = createSimulatedRuntime({ environment: { ...realEnvironment(), clock } })
    const sandbox = await runtime.runPodSandbox(sandboxConfig())
    const container = {
      attempt: 0,
      image: 'nginx:1',
      command: [],
      args: [],
      env: [],
      mounts: [],
      messageFromLog: false,
    }
    const started = await runtime.createContainer(sandbox.id, { ...container, name: 'web' })
    await runtime.startContainer(started)
    let said = 'cpu=2,memory=64Mi'
    const pods = () => [podOf({ annotations: { [simulatedUsageAnnotation]: said } })]
    const { lines } = scraping({ runtime, pods }, clock)
    const seconds = async (about: RegExp) =>
      (await lines('/cadvisor', /^container_cpu_usage/)).filter((line) => about.test(line)).map(numberOf)
    await clock.advance('10s')
    expect(await seconds(/pod="web"/)).toEqual([20])
    said = 'cpu=500m,memory=1Mi'
    await clock.advance('10s')
    expect(await seconds(/pod="web"/)).toEqual([25])
    expect(await seconds(/id="\/"/)).toEqual([25])
    expect((await lines('/cadvisor', /^container_memory_.*pod="web"/)).map(numberOf)).toEqual(Array(3).fill(1024 ** 2))
    expect((await lines('/cadvisor', /^container_spec_cpu_quota/)).map(numberOf)).toEqual([100_000])
    expect(await lines('/resource', /^pod_cpu/)).toEqual([
      'pod_cpu_usage_seconds_total{namespace="default",pod="web"} 25',
    ])
    runtime.exitContainer('uid-1', 'web', 0)
    expect(await seconds(/pod="web"/)).toEqual([])
    expect(await seconds(/id="\/"/)).toEqual([25])
  })
})

const numberOf = (line: string): number => Number(line.split(' ').at(-1))

describe('/metrics', () => {
  it('tells what is on the node, and what its agent has counted', async () => {
    const clock = new VirtualClock()
    const metrics = createAgentMetrics(clock)
    metrics.podStarted(2500)
    const volumes = [
      { name: 'a', emptyDir: {} },
      { name: 'b', emptyDir: {} },
      { name: 'c', configMap: { name: 'c' } },
    ]
    const running = testPod({ volumes }, { status: { phase: 'Running' } })
    const waiting = testPod({ volumes }, { metadata: { name: 'other', uid: 'uid-2' }, status: { phase: 'Pending' } })
    const over = testPod({}, { metadata: { name: 'over', uid: 'uid-3' }, status: { phase: 'Succeeded' } })
    const annotations = { 'kubernetes.io/config.source': 'file' }
    const ofFile = testPod({}, { metadata: { name: 'of-file', uid: 'uid-4', annotations } })
    const runtime = fakeRuntime({
      listContainers: async () => [testRun(), testRun({ id: 'c1', exitCode: 1 })],
      listPodSandboxes: async () => [testSandbox()],
    })
    const { lines } = scraping({ runtime, metrics: () => metrics, pods: () => [running, waiting, over, ofFile] }, clock)
    expect(await lines('', /^(kubelet_(node|running|desired|active|managed)|volume)/)).toEqual([
      'kubelet_active_pods{static=""} 2',
      'kubelet_active_pods{static="true"} 1',
      'kubelet_desired_pods{static=""} 3',
      'kubelet_desired_pods{static="true"} 1',
      'kubelet_managed_ephemeral_containers 0',
      'kubelet_node_name{node="node-a"} 1',
      'kubelet_running_containers{container_state="created"} 0',
      'kubelet_running_containers{container_state="running"} 1',
      'kubelet_running_containers{container_state="exited"} 1',
      'kubelet_running_pods 1',
      'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="desired_state_of_world"} 4',
      'volume_manager_total_volumes{plugin_name="kubernetes.io/configmap",state="desired_state_of_world"} 2',
      'volume_manager_total_volumes{plugin_name="kubernetes.io/empty-dir",state="actual_state_of_world"} 2',
      'volume_manager_total_volumes{plugin_name="kubernetes.io/configmap",state="actual_state_of_world"} 1',
    ])
    expect(await lines('', /^kubelet_pod_start_duration_seconds_(sum|count|bucket\{le="[23]")/)).toEqual([
      'kubelet_pod_start_duration_seconds_bucket{le="2"} 0',
      'kubelet_pod_start_duration_seconds_bucket{le="3"} 1',
      'kubelet_pod_start_duration_seconds_sum 2.5',
      'kubelet_pod_start_duration_seconds_count 1',
    ])
    expect(await lines('', /^process_(cpu_seconds_total|resident_memory_bytes|start_time_seconds) /)).toHaveLength(3)
  })
})

it.each(['/cadvisor', '/resource'])('looks at each of many containers a few times for /metrics%s', async (path) => {
  const count = 500
  let looks = 0
  const names = Array.from({ length: count }, (_, index) => `c${index}`)
  const containers = names.map((name) => ({
    get name() {
      looks += 1
      return name
    },
    image: 'i',
  }))
  const pod = testPod({ containers }, { status: { phase: 'Running', qosClass: 'BestEffort' } })
  const runtime = fakeRuntime({
    isolates: true,
    listContainers: async () => names.map((name) => testRun({ id: `id-${name}`, name })),
    containerStats: async (ids) => new Map(ids.map((id) => [id, { cpuMs: 1, memoryBytes: 1 }])),
  })
  const { lines } = scraping({ runtime, pods: () => [pod] })
  expect(await lines(path, /^container_cpu_usage_seconds_total{.*container="c/)).toHaveLength(count)
  expect(looks).toBeLessThanOrEqual(count * 10)
})

describe('the volumes of claims at /metrics', () => {
  const volumeLines = async (path: string) => {
    const claimed = { namespace: 'shop', claimName: 'data', path }
    const { lines, body } = scraping({ runtime: fakeRuntime({}), claimedVolumes: () => [claimed, claimed] })
    const found = (await lines('', /^kubelet_volume_stats_/)).map((line) => line.split(/[{} ]+/))
    return { body, found: new Map(found.map(([name, labels, value]) => [name, { labels, value: Number(value) }])) }
  }

  it('are told by the file systems that they are in, once each', async () => {
    const { found, body } = await volumeLines(tmpdir())
    const { blocks, bsize, files } = await statfs(tmpdir())
    const value = (name: string) => found.get(`kubelet_volume_stats_${name}`)?.value ?? Number.NaN
    expect([...new Set([...found.values()].map(({ labels }) => labels))]).toEqual([
      'namespace="shop",persistentvolumeclaim="data"',
    ])
    expect([value('capacity_bytes'), value('inodes')]).toEqual([blocks * bsize, files])
    expect(value('used_bytes')).toBeGreaterThan(0)
    expect(value('available_bytes')).toBeGreaterThan(0)
    expect(value('used_bytes') + value('available_bytes')).toBeLessThanOrEqual(value('capacity_bytes'))
    expect(value('inodes_used') + value('inodes_free')).toBe(value('inodes'))
    expect((await body('')).match(/^kubelet_volume_stats_used_bytes/gm)).toHaveLength(1)
  })

  it('are left out once they are gone', async () => {
    expect((await volumeLines('/nowhere')).found.size).toBe(0)
  })
})

describe('/metrics/probes', () => {
  it('tells how checks went, of pods that are still checked', async () => {
    const clock = new VirtualClock()
    const metrics = createAgentMetrics(clock)
    const [pod, over] = [podOf(), podOf({ name: 'over', uid: 'uid-2' })]
    for (const each of [pod, over]) metrics.probed(each, 'web', 'Readiness', { ok: true, output: '' }, 30)
    metrics.probed(pod, 'web', 'Liveness', { ok: false, output: '' }, 30)
    metrics.probed(pod, 'web', 'Liveness', { ok: false, unknown: true, output: '' }, 30)
    let ended = false
    const pods = () => [pod, ended ? { ...over, status: { phase: 'Failed' as const } } : over]
    const { lines } = scraping({ runtime: fakeRuntime({}), metrics: () => metrics, pods }, clock)
    const [of, ofOver] = ['namespace="default",pod="web"', 'namespace="default",pod="over"']
    const total = () => lines('/probes', /^prober_probe_total/)
    expect(await total()).toEqual([
      `prober_probe_total{container="web",${of},pod_uid="uid-1",probe_type="Readiness",result="successful"} 1`,
      `prober_probe_total{container="web",${ofOver},pod_uid="uid-2",probe_type="Readiness",result="successful"} 1`,
      `prober_probe_total{container="web",${of},pod_uid="uid-1",probe_type="Liveness",result="failed"} 1`,
    ])
    expect(await lines('/probes', /^prober_probe_duration_seconds.*pod="web".*(le="0.0[25]+"|Readiness"} )/)).toEqual([
      `prober_probe_duration_seconds_bucket{container="web",${of},probe_type="Readiness",le="0.025"} 0`,
      `prober_probe_duration_seconds_bucket{container="web",${of},probe_type="Readiness",le="0.05"} 1`,
      `prober_probe_duration_seconds_sum{container="web",${of},probe_type="Readiness"} 0.03`,
      `prober_probe_duration_seconds_count{container="web",${of},probe_type="Readiness"} 1`,
    ])
    expect(await lines('/probes', /^process_/)).toHaveLength(1)
    ended = true
    expect((await total()).filter((line) => line.includes('over'))).toEqual([])
    expect(await lines('/probes', /duration.*over/)).toEqual([])
  })

  it('has nothing of simulated containers, which are not checked', async () => {
    const runtime = createSimulatedRuntime({ environment: realEnvironment() })
    const { lines } = scraping({ runtime })
    expect((await lines('/probes')).map((line) => line.split(' ')[0])).toEqual(['process_start_time_seconds'])
  })
})
