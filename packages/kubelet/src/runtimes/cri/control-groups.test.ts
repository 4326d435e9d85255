import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ControlGroups } from './control-groups.ts'

const files = {
  'cpu.stat': 'usage_usec 900\nnr_periods 12\nnr_throttled 5\nthrottled_usec 2500\nnr_bursts 0\n',
  'memory.stat':
    'anon 100\nfile 4096\nkernel 3\nfile_mapped 1024\ninactive_file 96\nactive_file 4000\npgfault 70\npgmajfault 8\n',
  'memory.events': 'low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n',
  'memory.peak': '8192\n',
  'io.stat': '8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n253:1 rbytes=5 wbytes=0 rios=1\n',
}

/** A kernel that has process 42 in the control group `path`, with these files. */
async function kernel(path: string, present: Readonly<Record<string, string>> = files) {
  const directory = await mkdtemp(join(tmpdir(), 'control-groups-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const [processes, controlGroups] = [join(directory, 'proc'), join(directory, 'cgroup')]
  await mkdir(join(processes, '42'), { recursive: true })
  await writeFile(join(processes, '42', 'cgroup'), `1:name=systemd:/other\n0::${path}\n`)
  await mkdir(join(controlGroups, path), { recursive: true })
  for (const [name, text] of Object.entries(present)) await writeFile(join(controlGroups, path, name), text)
  return { processes, controlGroups }
}

/** A runtime that knows the process of a container, and how often it was asked. */
function runtime(pid: unknown) {
  const asked: unknown[] = []
  const containerStatus = async (request: unknown) => {
    asked.push(request)
    return { status: undefined, info: { info: JSON.stringify({ pid }) } }
  }
  return { asked, calls: { containerStatus } as never }
}

it('tells what the control group of a container has counted, and asks for its process once', async () => {
  const { calls, asked } = runtime(42)
  const groups = new ControlGroups(calls, await kernel('/kubepods/pod1/c0'))
  const expected = {
    memoryCacheBytes: 4096,
    memoryMappedBytes: 1024,
    memoryActiveFileBytes: 4000,
    memoryInactiveFileBytes: 96,
    memoryKernelBytes: 3,
    memoryPeakBytes: 8192,
    memoryLimitHits: 7,
    pageFaults: 70,
    majorPageFaults: 8,
    disks: [
      { device: '8:0', readBytes: 10, writtenBytes: 20, reads: 1, writes: 2 },
      { device: '253:1', readBytes: 5, writtenBytes: 0, reads: 1, writes: 0 },
    ],
    oomKills: 2,
    cpuPeriods: 12,
    cpuThrottledPeriods: 5,
    cpuThrottledMs: 2.5,
  }
  expect(await groups.statsOf('c0')).toEqual(expected)
  expect(await groups.statsOf('c0')).toEqual(expected)
  expect(asked).toEqual([{ containerId: 'c0', verbose: true }])
  groups.forget('c0')
  await groups.statsOf('c0')
  expect(asked).toHaveLength(2)
})

it.each([
  ['whose process is not told', undefined, '/kubepods/pod1/c0'],
  ['whose process has gone', 43, '/kubepods/pod1/c0'],
  ['whose process is another’s here', 42, '/system.slice/other.service'],
])('tells nothing of a container %s', async (_, pid, path) => {
  expect(await new ControlGroups(runtime(pid).calls, await kernel(path)).statsOf('c0')).toEqual({})
})

it('tells what the tasks of a container have waited for', async () => {
  const waited = 'some avg10=1.00 avg60=2.00 avg300=3.00 total=4\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n'
  const groups = new ControlGroups(runtime(42).calls, await kernel('/pod1/c0', { 'io.pressure': waited }))
  const full = { totalNs: 1000, avg10: 0, avg60: 0, avg300: 0 }
  expect(await groups.statsOf('c0')).toEqual({
    pressure: { io: { some: { totalNs: 4000, avg10: 1, avg60: 2, avg300: 3 }, full } },
  })
})

it('leaves out what the kernel does not tell', async () => {
  const without = await kernel('/pod1/c0', { 'cpu.stat': 'usage_usec 900\n', 'memory.stat': 'file 5\n' })
  expect(await new ControlGroups(runtime(42).calls, without).statsOf('c0')).toEqual({ memoryCacheBytes: 5 })
})
