import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PodSpec } from '@coracle/api'
import { createLogger, type LogLine, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testPod, testSandbox } from '../testing/pods.ts'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { HostsFiles, nodeHostsBytesMax } from './hosts-files.ts'
import type { ServiceNames } from './service-names.ts'

const nodeHosts = '127.0.0.1 localhost\n192.0.2.1 nas\n'

/** Files below a directory, of pods that run, with services that the test changes. */
function hostsFiles({ directory = temporaryDirectory(), names = true } = {}) {
  const virtual = virtualEnvironment()
  const logged: LogLine[] = []
  const environment = { ...virtual, logger: createLogger((line) => logged.push(line)) }
  const nodeFile = join(temporaryDirectory(), 'hosts')
  writeFileSync(nodeFile, nodeHosts)
  const lines = new Map([
    ['default', '127.4.0.7\tdb.default\tdb\n'],
    ['bank', '127.4.0.7\tdb.default\n'],
  ])
  const asked: string[] = []
  const listeners = new Set<() => void>()
  const services: ServiceNames = {
    lines(namespace) {
      asked.push(namespace)
      return lines.get(namespace) ?? ''
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const opened = Promise.withResolvers<ServiceNames>()
  let openings = 0
  const pods = new Map<string, ReturnType<typeof testPod>>()
  const sandboxes = [
    testSandbox({ id: 's0', ready: false, addresses: ['127.1.0.9'] }),
    testSandbox({ id: 's1', podUid: 'uid-2', addresses: ['127.1.0.2'] }),
    testSandbox({ id: 's2' }),
  ]
  const files = new HostsFiles({
    environment,
    runtime: { listPodSandboxes: async () => sandboxes },
    directory,
    clusterDomain: 'cluster.local',
    nodeHosts: nodeFile,
    pods: () => [...pods.values()],
    ...(names
      ? {
          openServiceNames() {
            openings += 1
            return opened.promise
          },
        }
      : {}),
  })
  onTestFinished(() => files.stop())
  const pathOf = (uid: string) => join(directory, uid, 'etc.hosts')
  const pod = (uid: string, spec: Partial<PodSpec> = {}, namespace = 'default') => {
    const made = testPod(spec, { metadata: { uid, namespace } })
    pods.set(uid, made)
    return made
  }
  return {
    ...{ clock: environment.clock, files, pods, sandboxes, lines, asked, nodeFile, directory, pathOf, pod, logged },
    openings: () => openings,
    followers: () => listeners.size,
    open: () => opened.resolve(services),
    fail(error: Error) {
      opened.promise.catch(() => {})
      opened.reject(error)
    },
    /** Says that lines have changed, and waits until nothing more is done about it. */
    async tell() {
      for (const listener of listeners) listener()
      await environment.clock.settle()
    },
    mounts: (made: ReturnType<typeof testPod>, signal = new AbortController().signal) =>
      files.withHosts([], made, ['127.1.0.1'], signal),
    text: (uid: string) => readFileSync(pathOf(uid), 'utf8'),
  }
}

describe('a container', () => {
  it('gets the file of its pod, with what is known by then', async () => {
    const { mounts, pod, pathOf, text, open } = hostsFiles()
    open()
    const [mount] = await mounts(pod('uid-1', { hostname: 'me', subdomain: 'web' }))
    expect(mount).toEqual({ name: 'etc-hosts', containerPath: '/etc/hosts', hostPath: pathOf('uid-1') })
    expect(text('uid-1')).toBe(
      '# Kubernetes-managed hosts file.\n127.1.0.1\tme.web.default.svc.cluster.local\tme\n\n' +
        `# The host.\n${nodeHosts}\n# Services of the cluster.\n127.4.0.7\tdb.default\tdb\n`,
    )
    expect(statSync(pathOf('uid-1').replace('/etc.hosts', '')).mode & 0o777).toBe(0o700)
  })

  it.each(['/etc/hosts', '/etc//hosts', 'etc/hosts'])('keeps what it has at %s', async (containerPath) => {
    const { files, pod, pathOf } = hostsFiles()
    const mounts = [{ name: 'mine', containerPath, hostPath: '/mine' }]
    expect(await files.withHosts(mounts, pod('uid-1'), ['127.1.0.1'], new AbortController().signal)).toBe(mounts)
    expect(existsSync(pathOf('uid-1'))).toBe(false)
  })

  it('gets what is known when it starts, whatever others of its namespace got', async () => {
    const { mounts, pod, text, open, lines } = hostsFiles()
    open()
    await mounts(pod('uid-1'))
    lines.set('default', '127.4.0.8\tdb\n')
    await mounts(pod('uid-2'))
    expect(text('uid-1')).toContain('127.4.0.7\t')
    expect(text('uid-2')).toContain('127.4.0.8\t')
  })

  it('gets it beside what it has elsewhere', async () => {
    const { files, pod, open } = hostsFiles()
    open()
    const mounts = [{ name: 'mine', containerPath: '/etc', hostPath: '/mine' }]
    const all = await files.withHosts(mounts, pod('uid-1'), ['127.1.0.1'], new AbortController().signal)
    expect(all.map(({ containerPath }) => containerPath)).toEqual(['/etc', '/etc/hosts'])
  })

  it('is not named where its pod is on the network of its node', async () => {
    const { mounts, pod, text, open } = hostsFiles()
    open()
    await mounts(pod('uid-1', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }))
    expect(text('uid-1')).toMatch(/^# Kubernetes-managed hosts file \(host network\)\.\n\n# The host/)
  })

  it('waits until services are known', async () => {
    const { mounts, pod, pathOf, text, open, clock } = hostsFiles()
    const mounted = mounts(pod('uid-1'))
    await clock.advance('1m')
    expect(existsSync(pathOf('uid-1'))).toBe(false)
    open()
    await mounted
    expect(text('uid-1')).toContain('\tdb\n')
  })

  it('does not wait for services where it is not to, and knows them when they are known', async () => {
    const { clock, files, pod, text, open } = hostsFiles()
    const made = pod('uid-1')
    await files.withHosts([], made, ['127.1.0.1'], new AbortController().signal, { waits: false })
    expect(text('uid-1')).toContain('nas')
    expect(text('uid-1')).not.toContain('db.default')
    open()
    await clock.settle()
    expect(text('uid-1')).toContain('db.default')
  })

  it('does not wait when its pod is to end', async () => {
    const { mounts, pod, pathOf } = hostsFiles()
    const ending = new AbortController()
    const mounted = mounts(pod('uid-1'), ending.signal)
    ending.abort(new Error('ending'))
    await expect(mounted).rejects.toThrow('ending')
    expect(existsSync(pathOf('uid-1'))).toBe(false)
  })

  it('is refused, and tries again, where services cannot be known', async () => {
    const { mounts, pod, fail, openings } = hostsFiles()
    fail(new Error('not now'))
    await expect(mounts(pod('uid-1'))).rejects.toThrow('not now')
    await expect(mounts(pod('uid-1'))).rejects.toThrow('not now')
    expect(openings()).toBe(2)
  })

  const hostAliases = [{ ip: '192.0.2.7', hostnames: ['added'] }]

  it.each<[string, Partial<PodSpec>, boolean]>([
    ['says nothing', {}, true],
    ['wants no variables of services', { enableServiceLinks: false }, true],
    ['looks names up as its node', { dnsPolicy: 'Default' }, false],
    ['looks names up on its own', { dnsPolicy: 'None' }, false],
    ['is on the network of its node', { hostNetwork: true }, false],
    ['is there, and wants the cluster’s', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, true],
  ])('knows services as resolvers elsewhere do: one whose pod %s', async (_, spec, knows) => {
    const { mounts, pod, text, pathOf, open, openings, asked } = hostsFiles()
    open()
    await mounts(pod('uid-1', { ...spec, hostAliases }))
    expect(asked).toEqual(knows ? ['default'] : [])
    expect(text('uid-1').includes('\tdb\n')).toBe(knows)
    expect(text('uid-1')).toContain('192.0.2.7\tadded\n')
    expect(text('uid-1')).toContain('192.0.2.1 nas\n')
    expect(openings()).toBe(knows ? 1 : 0)
    expect(await mounts(pod('uid-2', spec))).toHaveLength(knows ? 1 : 0)
    expect(existsSync(pathOf('uid-2'))).toBe(knows)
  })

  it('knows no services where nobody does', async () => {
    const { mounts, pod, text } = hostsFiles({ names: false })
    expect(await mounts(pod('uid-1'))).toEqual([])
    await mounts(pod('uid-2', { hostAliases }))
    expect(text('uid-2')).toMatch(/# The host\.\n[^#]+$/)
  })

  it('does without the names of a node that has too many, which is logged once', async () => {
    const { mounts, pod, text, open, nodeFile, logged } = hostsFiles()
    open()
    writeFileSync(nodeFile, nodeHosts.padEnd(nodeHostsBytesMax, '\n'))
    await mounts(pod('uid-1'))
    expect(text('uid-1')).toContain('nas')
    writeFileSync(nodeFile, nodeHosts.padEnd(nodeHostsBytesMax + 1, '\n'))
    await mounts(pod('uid-1'))
    await mounts(pod('uid-2'))
    expect(text('uid-1')).not.toContain('nas')
    expect(text('uid-1')).toContain('127.0.0.1\tlocalhost\n')
    expect(logged.map(({ level, fields }) => [level, fields])).toEqual([['warn', { path: nodeFile }]])
    expect(logged[0]?.message).toContain('hosts file of the node is too large')
  })

  it('knows localhost where the node has no such file', async () => {
    const { mounts, pod, text, open, nodeFile } = hostsFiles()
    open()
    rmSync(nodeFile)
    await mounts(pod('uid-1'))
    expect(text('uid-1')).toContain('127.0.0.1\tlocalhost\n')
  })
})

describe('files of pods that run', () => {
  it('follow services, and stay the same files', async () => {
    const { mounts, pod, text, open, lines, tell, pathOf } = hostsFiles()
    open()
    await mounts(pod('uid-1'))
    const { ino } = statSync(pathOf('uid-1'))
    lines.set('default', '127.4.0.8\tdb.default\tdb\n')
    await tell()
    expect(text('uid-1')).toContain('\n127.4.0.8\tdb.default\tdb\n')
    expect(statSync(pathOf('uid-1')).ino).toBe(ino)
  })

  it('are written only where something is new', async () => {
    const { mounts, pod, text, open, lines, tell, pathOf } = hostsFiles()
    open()
    await mounts(pod('uid-1'))
    await mounts(pod('uid-2', {}, 'bank'))
    for (const uid of ['uid-1', 'uid-2']) utimesSync(pathOf(uid), 1, 1)
    lines.set('default', '')
    await tell()
    expect(text('uid-1')).not.toContain('db')
    expect(statSync(pathOf('uid-1')).mtimeMs).toBeGreaterThan(1000)
    expect(statSync(pathOf('uid-2')).mtimeMs).toBe(1000)
  })

  it('have what is common to a namespace made once', async () => {
    const { mounts, pod, open, asked, tell, lines, text } = hostsFiles()
    open()
    const uids = Array.from({ length: 10 }, (_, index) => `uid-${index}`)
    for (const uid of uids) await mounts(pod(uid))
    await mounts(pod('uid-bank', {}, 'bank'))
    asked.length = 0
    lines.set('default', '127.4.0.9\tdb\n')
    await tell()
    expect(asked.sort()).toEqual(['bank', 'default'])
    for (const uid of uids) expect(text(uid)).toContain('127.4.0.9\tdb\n')
  })

  it('are made true once where they are to change twice', async () => {
    const { mounts, pod, open, asked, tell } = hostsFiles()
    open()
    await mounts(pod('uid-1'))
    asked.length = 0
    await Promise.all([tell(), tell()])
    expect(asked).toEqual(['default'])
  })

  it('are left alone from when their pod has ended, or is gone', async () => {
    const { mounts, pod, pods, open, tell, lines, text, pathOf, directory, logged } = hostsFiles()
    open()
    for (const uid of ['uid-1', 'uid-2', 'uid-3', 'uid-4']) await mounts(pod(uid))
    pods.delete('uid-1')
    rmSync(join(directory, 'uid-2'), { recursive: true })
    rmSync(pathOf('uid-3'))
    lines.set('default', '127.4.0.9\tdb\n')
    await tell()
    expect(text('uid-1')).not.toContain('127.4.0.9')
    for (const uid of ['uid-2', 'uid-3']) expect(existsSync(pathOf(uid))).toBe(false)
    expect(text('uid-4')).toContain('127.4.0.9')
    pod('uid-1')
    writeFileSync(pathOf('uid-3'), '')
    await tell()
    expect(text('uid-1')).not.toContain('127.4.0.9')
    expect(text('uid-3')).toBe('')
    expect(logged).toEqual([])
  })

  it('are written although one of them cannot be, which is logged and tried again', async () => {
    const { mounts, pod, open, tell, lines, text, pathOf, logged } = hostsFiles()
    open()
    for (const uid of ['uid-1', 'uid-2']) await mounts(pod(uid))
    rmSync(pathOf('uid-1'))
    mkdirSync(pathOf('uid-1'))
    lines.set('default', '127.4.0.9\tdb\n')
    await tell()
    expect(text('uid-2')).toContain('127.4.0.9')
    expect(logged.map(({ level, fields }) => [level, fields.path])).toEqual([['warn', pathOf('uid-1')]])
    expect(logged[0]?.message).toBe('a hosts file was not written')
    rmSync(pathOf('uid-1'), { recursive: true })
    writeFileSync(pathOf('uid-1'), '')
    await tell()
    expect(text('uid-1')).toContain('127.4.0.9')
  })

  it('are written no more after a stop', async () => {
    const { files, mounts, pod, open, tell, lines, text } = hostsFiles()
    open()
    await mounts(pod('uid-1'))
    await files.stop()
    lines.set('default', '127.4.0.9\tdb\n')
    await tell()
    expect(text('uid-1')).not.toContain('127.4.0.9')
  })
})

it('follows nothing where it is stopped before services are known', async () => {
  const { files, mounts, pod, open, followers, clock } = hostsFiles()
  const mounted = mounts(pod('uid-1'))
  await files.stop()
  open()
  await mounted
  await clock.settle()
  expect(followers()).toBe(0)
})

describe('files of an earlier life', () => {
  it('are true again, those that containers have', async () => {
    const { directory, ...before } = hostsFiles()
    before.open()
    await before.mounts(before.pod('uid-1'))
    await before.files.stop()
    const { files, pod, open, lines, text, pathOf, tell, clock } = hostsFiles({ directory })
    pod('uid-1')
    pod('uid-2')
    open()
    lines.set('default', '127.4.0.9\tdb\n')
    await files.takeUp()
    await clock.settle()
    expect(text('uid-1')).toContain('127.1.0.1\tweb\n')
    expect(text('uid-1')).toContain('127.4.0.9\tdb\n')
    expect(existsSync(pathOf('uid-2'))).toBe(false)
    lines.set('default', '127.4.0.10\tdb\n')
    await tell()
    expect(text('uid-1')).toContain('127.4.0.10\tdb\n')
  })

  it('are not written where they are true', async () => {
    const { directory, ...before } = hostsFiles()
    before.open()
    await before.mounts(before.pod('uid-1'))
    const { files, pod, open, pathOf, clock } = hostsFiles({ directory })
    utimesSync(pathOf('uid-1'), 1, 1)
    pod('uid-1')
    open()
    await files.takeUp()
    await clock.settle()
    expect(statSync(pathOf('uid-1')).mtimeMs).toBe(1000)
  })

  it('are of no concern where there are none: services are not asked for', async () => {
    const { files, pod, openings } = hostsFiles()
    pod('uid-1')
    await files.takeUp()
    expect(openings()).toBe(0)
  })

  it('are not those of pods that have no place here, nor those that a container has had made anew', async () => {
    const { directory, ...before } = hostsFiles()
    before.open()
    for (const uid of ['uid-2', 'uid-3']) await before.mounts(before.pod(uid))
    const { files, pod, open, lines, text, clock, logged } = hostsFiles({ directory })
    open()
    lines.set('default', '127.4.0.9\tdb\n')
    await files.withHosts([], pod('uid-2'), ['127.1.0.7'], new AbortController().signal)
    pod('uid-3')
    await files.takeUp()
    await clock.settle()
    expect(text('uid-2')).toContain('127.1.0.7\tweb\n')
    expect(text('uid-3')).not.toContain('127.4.0.9')
    expect(logged).toEqual([])
  })

  it('are true without services, where their pod has none', async () => {
    const spec: Partial<PodSpec> = { dnsPolicy: 'Default', hostAliases: [{ ip: '192.0.2.7', hostnames: ['added'] }] }
    const { directory, ...before } = hostsFiles()
    await before.mounts(before.pod('uid-1', spec))
    const { files, pod, pathOf, text, openings, clock } = hostsFiles({ directory })
    pod('uid-1', spec)
    writeFileSync(pathOf('uid-1'), 'false')
    await files.takeUp()
    await clock.settle()
    expect(text('uid-1')).toContain('192.0.2.7\tadded\n')
    expect(openings()).toBe(0)
  })

  it('are left as they are where they cannot be known, which is logged', async () => {
    const { directory, ...before } = hostsFiles()
    before.open()
    await before.mounts(before.pod('uid-1'))
    const { files, pod, fail, logged } = hostsFiles({ directory })
    pod('uid-1')
    fail(new Error('not now'))
    await files.takeUp()
    expect(logged.map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'hosts files of pods that run are not followed up'],
    ])
  })
})
