/** Containers with mounts of their own, as whoever runs these tests and, where that is root, as nobody, too. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DrivenRuntime, drivenRuntime } from '../../testing/driven-runtime.ts'
import { remoteRuntime } from '../../testing/remote-runtime.ts'
import { sandboxConfig } from '../../testing/sandboxes.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { AskedUser, ContainerConfig, ContainerRuntimeStatus, Mount, PodSandboxConfig } from '../runtime.ts'
import { createProcessRuntime } from './process-runtime.ts'
import { runsAsRoot } from './process-user.ts'
import { privateMountsProblem } from './view/private-mounts.ts'

const nobody = { uid: 65_534, gid: 65_534 }

/** Whether nobody may have mounts on this host, and may read what is tested. */
function nobodyHasMounts(): boolean {
  if (!runsAsRoot()) return false
  const module = fileURLToPath(new URL('./view/private-mounts.ts', import.meta.url))
  const script = `import { privateMountsProblem } from ${JSON.stringify(module)}; process.exit(privateMountsProblem() === undefined ? 0 : 1)`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { ...nobody, cwd: '/' }).status === 0
}

/** Where a runtime is, and what a test has of it. */
interface Place {
  readonly directory: string
  readonly runtime: DrivenRuntime
  /** Another on the same directory, after the end of the first. */
  readonly restart: () => Promise<DrivenRuntime>
}

function here(): Place {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o711)
  let closeLast = async () => {}
  const open = () => {
    const options = { environment: realEnvironment(), dataDirectory: join(directory, 'data'), nodeName: 'node-a' }
    const runtime = createProcessRuntime(options)
    closeLast = () => runtime.close()
    return drivenRuntime(runtime)
  }
  return placed(directory, open, () => closeLast())
}

function asNobody(): Place {
  const directory = temporaryDirectory()
  chownSync(directory, nobody.uid, nobody.gid)
  let killLast = async () => {}
  const open = () => {
    const { runtime, kill } = remoteRuntime(join(directory, 'data'), nobody)
    killLast = kill
    return runtime
  }
  return placed(directory, open, () => killLast())
}

function placed(directory: string, open: () => DrivenRuntime, closeLast: () => Promise<void>): Place {
  let last = open()
  onTestFinished(async () => {
    await Promise.all((await last.listContainers()).map(({ id }) => last.stopContainer(id, 0)))
    await closeLast()
  })
  return {
    directory,
    runtime: last,
    restart: async () => {
      await closeLast()
      last = open()
      return last
    },
  }
}

/** Each run has a log of its own. */
let runs = 0

const main = (command: string | readonly string[], more: Partial<ContainerConfig> = {}): ContainerConfig => ({
  name: 'main',
  attempt: runs++,
  image: 'none',
  command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
  args: [],
  env: [],
  mounts: [],
  messageFromLog: false,
  ...more,
})

/** A directory with files, of whoever the runtime is. */
function volume({ directory }: Place, files: Readonly<Record<string, string>> = {}): string {
  const path = join(directory, `volume-${readdirSync(directory).length}`)
  mkdirSync(path)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text, { mode: 0o755 })
  const { uid, gid } = statSync(directory)
  for (const each of [path, ...Object.keys(files).map((name) => join(path, name))]) chownSync(each, uid, gid)
  return path
}

const at = (containerPath: string, hostPath: string, more: Partial<Mount> = {}): Mount => ({
  name: 'data',
  containerPath,
  hostPath,
  ...more,
})

async function start(runtime: DrivenRuntime, config: ContainerConfig): Promise<string> {
  const sandbox = await runtime.runPodSandbox(sandboxConfig())
  const id = await runtime.createContainer(sandbox.id, config)
  await runtime.startContainer(id)
  return id
}

async function ended(runtime: DrivenRuntime, id: string): Promise<ContainerRuntimeStatus> {
  const status = async () => (await runtime.listContainers()).find((each) => each.id === id)
  await expect.poll(async () => (await status())?.state).toBe('exited')
  const found = await status()
  if (found === undefined) throw new Error(`no container ${id}`)
  return found
}

/** Runs a container to its end. */
async function run(runtime: DrivenRuntime, config: ContainerConfig) {
  const id = await start(runtime, config)
  const status = await ended(runtime, id)
  return { id, status, text: await runtime.log(id) }
}

/** A name that no host has. */
const fresh = 'coracle-test-view'

/** What the host sees mounted of a test. */
const hostMounts = ({ directory }: Place): readonly string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.includes(directory) || line.includes(fresh))

const canHere = privateMountsProblem() === undefined
const needsMounts = { meta: { needs: 'mount namespaces' } }

it.skipIf(!canHere)(
  'a container that never gets as far as its command is killed by whoever gives its start up',
  needsMounts,
  async () => {
    const place = here()
    const runtime = createProcessRuntime({
      environment: realEnvironment(),
      dataDirectory: join(place.directory, 'other'),
      nodeName: 'node-a',
    })
    onTestFinished(() => runtime.close())
    // The shell of the container is its own, and waits for ever.
    const bin = volume(place, { sh: '#!/bin/shell\nread -r line </bin/hold\n' })
    copyFileSync('/bin/sh', join(bin, 'shell'))
    spawnSync('mkfifo', [join(bin, 'hold')])
    const sandbox = await runtime.runPodSandbox(sandboxConfig())
    const id = await runtime.createContainer(sandbox.id, main('exit 0', { mounts: [at('/bin', bin)] }))
    const stopping = new AbortController()
    const started = runtime.startContainer(id, stopping.signal)
    const state = async () => (await runtime.listContainers())[0]?.state
    await expect.poll(state).toBe('running')
    stopping.abort(new Error('the pod is deleted'))
    await expect(started).rejects.toThrow('the pod is deleted')
    expect(await state()).toBe('exited')
    await runtime.removePodSandbox(sandbox.id)
  },
)

describe.each([
  { who: 'whoever runs the tests', open: here, can: canHere },
  { who: 'nobody', open: asNobody, can: canHere && nobodyHasMounts() },
])('a container with mounts of its own, started by $who', ({ open, can }) => {
  const test = it.skipIf(!can)

  test('sees its volumes at the paths it names, and nobody else does', needsMounts, async () => {
    const place = open()
    expect(await place.runtime.hasPrivateMounts()).toBe(true)
    const files = volume(place, { file: 'from volume\n', hosts: 'my hosts\n' })
    const paths = [`/${fresh}`, `/etc/${fresh} and more/deep`, '/media', `/var/run/${fresh}/in`]
    const mounts = [...paths.map((path) => at(path, files)), at('/etc/hosts', join(files, 'hosts'))]
    const script = [...paths.map((path) => `cat '${path}/file'`), 'cat /etc/hosts', 'ls /usr /etc >/dev/null']
    const { text, status } = await run(place.runtime, main(script.join(' && '), { mounts }))
    expect([status.exitCode, text]).toEqual([0, `${'from volume\n'.repeat(paths.length)}my hosts\n`])
    for (const path of [`/${fresh}`, `/etc/${fresh} and more`, `/run/${fresh}`]) expect(existsSync(path)).toBe(false)
    expect(hostMounts(place)).toEqual([])
  })

  test('can do with a hosts file of its own what it can without, as have namespaces', needsMounts, async () => {
    const place = open()
    const mounts = [at('/etc/hosts', join(volume(place, { hosts: 'my hosts\n' }), 'hosts'))]
    const script = 'cat /etc/hosts && readlink /proc/self/root && unshare --user id -u && pwd'
    const work = `${place.directory}/data/kubelet/node-a/`
    const said = new RegExp(`^my hosts\n/\n65534\n${work}.*\n$`)
    const id = await start(place.runtime, main(`${script}; exec sleep 1000`, { mounts }))
    await expect.poll(() => place.runtime.log(id)).toMatch(said)
    expect((await place.runtime.execSync(id, ['sh', '-c', script])).output).toMatch(said)
    const after = await place.restart()
    expect((await after.execSync(id, ['sh', '-c', script])).output).toMatch(said)
    expect(hostMounts(place)).toEqual([])
  })

  test(
    'is on a host of the name of its pod, if it can find that in a hosts file, and other processes are not',
    needsMounts,
    async () => {
      const place = open()
      const hosts = at('/etc/hosts', join(volume(place, { hosts: 'my hosts\n' }), 'hosts'))
      const name = ['cat', '/proc/sys/kernel/hostname']
      const called = async (mounts: readonly Mount[], more: Partial<PodSandboxConfig> = {}) => {
        const sandbox = await place.runtime.runPodSandbox({ ...sandboxConfig(), hostname: 'db-0', ...more })
        const id = await place.runtime.createContainer(
          sandbox.id,
          main(`${name.join(' ')}; exec sleep 1000`, { mounts: [...mounts] }),
        )
        await place.runtime.startContainer(id)
        await expect.poll(() => place.runtime.log(id)).toMatch(/\n$/)
        expect((await place.runtime.execSync(id, name)).output).toBe(await place.runtime.log(id))
        return { id, said: await place.runtime.log(id) }
      }
      const { id, said } = await called([hosts])
      expect(said).toBe('db-0\n')
      expect((await called([hosts, at(`/${fresh}`, volume(place))])).said).toBe('db-0\n')
      const own = `${hostname()}\n`
      expect((await called([at(`/${fresh}`, volume(place))])).said).toBe(own)
      expect((await called([hosts], { hostNetwork: true })).said).toBe(own)
      expect(readFileSync('/proc/sys/kernel/hostname', 'utf8')).toBe(own)
      expect((await (await place.restart()).execSync(id, name)).output).toBe('db-0\n')
    },
  )

  test('sees all else as the host has it', needsMounts, async () => {
    const place = open()
    const names = () => ['/', '/etc'].map((directory) => readdirSync(directory).sort().join('\n'))
    const mounts = [at(`/etc/${fresh}`, volume(place))]
    const script = 'ls -A /; echo; ls -A /etc'
    let [before, text] = [names(), '']
    // Until nothing else has changed on the host meanwhile.
    for (let isSame = false; !isSame; before = names()) {
      const { text: found, status } = await run(place.runtime, main(script, { mounts }))
      expect(status.exitCode).toBe(0)
      text = found
      isSame = names().join() === before.join()
    }
    const [root = '', etc = ''] = text.trim().split('\n\n')
    expect(root.split('\n').sort()).toEqual(before[0]?.split('\n'))
    expect(etc.split('\n').sort()).toEqual([...(before[1] ?? '').split('\n'), fresh].sort())
    const containers = join(place.directory, 'data/kubelet/node-a/containers')
    expect((await run(place.runtime, main(`ls ${containers}/*/root`, { mounts }))).text).not.toMatch(/^usr$/m)
  })

  test('writes to its volumes, but not to those that are read-only', needsMounts, async () => {
    const place = open()
    const [open_, closed] = [volume(place), volume(place)]
    const readOnly = ['/media', closed].map((path) => at(path, closed, { readOnly: true }))
    const script = `echo kept >/${fresh}/file; echo lost >/media/file; echo lost >${closed}/file`
    const { text } = await run(place.runtime, main(script, { mounts: [...readOnly, at(`/${fresh}`, open_)] }))
    expect(text.match(/Read-only file system/g)).toHaveLength(2)
    expect(readFileSync(join(open_, 'file'), 'utf8')).toBe('kept\n')
    expect(readdirSync(closed)).toEqual([])
  })

  test('has volumes in volumes, which get their places there', needsMounts, async () => {
    const place = open()
    const [outer, inner] = [volume(place, { file: 'outer\n' }), volume(place, { file: 'inner\n', conf: 'one\n' })]
    const mounts = [at('/media/a/b', inner), at('/media/etc/conf', join(inner, 'conf')), at('/media', outer)]
    const { text } = await run(place.runtime, main('cat /media/file /media/a/b/file /media/etc/conf', { mounts }))
    expect(text).toBe('outer\ninner\none\n')
    expect(readdirSync(outer).sort()).toEqual(['a', 'etc', 'file'])
    expect(readFileSync(join(outer, 'etc/conf'), 'utf8')).toBe('')
  })

  test('is a program of its volume, in a directory of its volume', needsMounts, async () => {
    const place = open()
    const [scripts, app] = [volume(place, { 'run.sh': '#!/bin/sh\npwd; echo "$@"\n', plain: 'x' }), volume(place)]
    chmodSync(join(scripts, 'plain'), 0o644)
    const mounts = [at('/scripts', scripts), at(`/${fresh}`, app)]
    const more = { mounts, workingDirectory: `/${fresh}` }
    expect((await run(place.runtime, main(['/scripts/run.sh', 'a b'], more))).text).toBe(`/${fresh}\na b\n`)
    const env = [{ name: 'PATH', value: '/nowhere:/scripts' }]
    expect((await run(place.runtime, main(['run.sh'], { ...more, env }))).text).toBe(`/${fresh}\n\n`)
    const fails = (command: string, change: Partial<ContainerConfig>, message: string) =>
      expect(start(place.runtime, main([command], { ...more, ...change }))).rejects.toThrow(message)
    await fails('/scripts/none', {}, 'exec: "/scripts/none": stat /scripts/none: no such file or directory')
    await fails('/scripts/plain', {}, 'exec: "/scripts/plain": permission denied')
    const chdir =
      'failed to start container: chdir to cwd ("/scripts/none") set in workingDir failed: no such directory'
    await fails('/bin/true', { workingDirectory: '/scripts/none' }, chdir)
  })

  test(
    'is joined by commands, on terminals too, also when the agent was killed and another is there',
    needsMounts,
    async () => {
      const place = open()
      const mounts = [at(`/${fresh}`, volume(place, { file: 'here\n' }))]
      const id = await start(place.runtime, main('exec sleep 1000', { mounts, workingDirectory: `/${fresh}` }))
      const look = async (runtime: DrivenRuntime) => {
        expect(await runtime.execSync(id, ['cat', 'file'])).toEqual({ exitCode: 0, output: 'here\n' })
        expect(await runtime.onTerminal(id, ['sh', '-c', 'cat file; tty'])).toMatch(/^here\r\n\/dev\/pts\/\d+\r\n$/)
        // Its processes are open to those beside it.
        const inside = await runtime.execSync(id, [
          'sh',
          '-c',
          'id -u; for e in /proc/[0-9]*/exe; do readlink $e; done',
        ])
        expect(inside.output).toMatch(/\/sleep\n|\/coreutils\n/)
        expect(inside.output.split('\n')[0]).toBe(String(statSync(place.directory).uid))
      }
      await look(place.runtime)
      const next = await place.restart()
      await look(next)
      await next.stopContainer(id, 10_000)
      expect((await ended(next, id)).exitCode).toBe(143)
      await expect(next.execSync(id, ['true'])).rejects.toThrow('is not running')
    },
  )

  test('is not joined by the number that its process had, once that is another’s', needsMounts, async () => {
    const place = open()
    const id = await start(place.runtime, main('exec sleep 1000', { mounts: [at(`/${fresh}`, volume(place))] }))
    const file = join(place.directory, 'data/kubelet/node-a/containers', id, 'main')
    const [pid, line = '', boot] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, [pid, line.replace(/ (\d+)/g, ' 1$1'), boot, ''].join('\n'))
    await expect(place.runtime.execSync(id, ['true'])).rejects.toThrow('is not running')
  })

  test('has a terminal', needsMounts, async () => {
    const place = open()
    const mounts = [at(`/${fresh}`, volume(place, { file: 'here\n' }))]
    const { text } = await run(place.runtime, main(`cat /${fresh}/file; tty`, { mounts, tty: true }))
    expect(text).toMatch(/^here\r\n\/dev\/pts\/\d+\r\n$/)
  })

  test('is who it would be, with its variables and no more descriptors', needsMounts, async () => {
    const place = open()
    const env = [
      { name: 'LD_PRELOAD', value: '/nowhere/coracle-test.so' },
      { name: 'with.dots', value: '$HOME' },
    ]
    const mounts = [at(`/${fresh}`, volume(place))]
    const { text } = await run(place.runtime, main(['/usr/bin/env'], { env: env.slice(1), mounts }))
    const lines = text.split('\n')
    expect(lines).toContain('with.dots=$HOME')
    expect(lines.filter((line) => /SHLVL|OLDPWD|CORACLE_(USER|LAUNCH|VIEW)|coracle_/.test(line))).toEqual([])
    // The loader complains once for each program that is started so.
    const preloaded = await run(place.runtime, main(['/bin/true'], { env: env.slice(0, 1), mounts }))
    expect(preloaded.text.match(/coracle-test\.so/g)).toEqual(['coracle-test.so'])
    const descriptors = await run(place.runtime, main('id -u; ls /proc/$$/fd', { mounts }))
    expect(descriptors.text).toBe(`${statSync(place.directory).uid}
0
1
2
`)
  })

  test('is counted, stopped and killed as others are, with what has gone its own way', needsMounts, async () => {
    const place = open()
    const mounts = [at(`/${fresh}`, volume(place))]
    const script = `trap "echo bye >/${fresh}/words; exit 3" TERM; setsid sleep 1061 & echo $! >/${fresh}/pid; wait`
    const id = await start(place.runtime, main(script, { mounts }))
    const pidFile = join(mounts[0]?.hostPath ?? '', 'pid')
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/\n$/)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    expect((await place.runtime.statsOf(id))?.processes).toBeGreaterThanOrEqual(2)
    expect(hostMounts(place)).toEqual([])
    await place.runtime.stopContainer(id, 10_000)
    expect((await ended(place.runtime, id)).exitCode).toBe(3)
    expect(existsSync(`/proc/${pid}/exe`)).toBe(false)
    const killed = await start(place.runtime, main('exec sleep 1062', { mounts, name: 'other' }))
    await place.runtime.stopContainer(killed, 0)
    expect((await ended(place.runtime, killed)).exitCode).toBe(137)
    expect(hostMounts(place)).toEqual([])
    for (const { sandboxId } of await place.runtime.listContainers()) await place.runtime.removePodSandbox(sandboxId)
    expect(readFileSync(join(mounts[0]?.hostPath ?? '', 'words'), 'utf8')).toBe('bye\n')
    expect(readdirSync(join(place.directory, 'data/kubelet/node-a/containers'))).toEqual([])
  })

  test('has its last words read from where it says, in a volume too', needsMounts, async () => {
    const place = open()
    const mounts = [at(`/${fresh}`, volume(place))]
    const named = { mounts, terminationMessagePath: `/${fresh}/words` }
    const script = 'echo "bye at $CORACLE_TERMINATION_MESSAGE_PATH" >"$CORACLE_TERMINATION_MESSAGE_PATH"'
    expect((await run(place.runtime, main(script, named))).status.message).toBe(`bye at /${fresh}/words\n`)
    const { status } = await run(
      place.runtime,
      main(script, { mounts, terminationMessagePath: '/dev/termination-log' }),
    )
    expect(status.message).toMatch(/^bye at \/.*\/termination-log\n$/)
  })

  test('has what is its own elsewhere where a volume hides that', needsMounts, async () => {
    const place = open()
    const mounts = [at(tmpdir(), volume(place))]
    const script =
      'echo bye >"$CORACLE_TERMINATION_MESSAGE_PATH"; echo 1 >file; pwd; echo "$CORACLE_TERMINATION_MESSAGE_PATH"'
    const { text, status } = await run(place.runtime, main(script, { mounts }))
    expect(text).toBe('/.coracle/work\n/.coracle/termination-log\n')
    expect(status).toMatchObject({ exitCode: 0, message: 'bye\n' })
    expect(readFileSync(join(place.directory, 'data/kubelet/node-a/work/uid-1/main/file'), 'utf8')).toBe('1\n')
    const work = join(place.directory, 'data/kubelet/node-a/work')
    expect((await run(place.runtime, main('pwd', { mounts: [at(work, volume(place))] }))).text).toBe('/.coracle/work\n')
    const both = [...mounts, at('more', volume(place))]
    await expect(start(place.runtime, main('true', { mounts: both }))).rejects.toThrow(
      'cannot be mounted at more: the directory that the container starts in is hidden by another volume',
    )
  })

  test('has volumes at relative paths beside others', needsMounts, async () => {
    const place = open()
    const files = volume(place, { file: 'here\n' })
    const mounts = [at('config', files), at(`/${fresh}`, files)]
    expect((await run(place.runtime, main(`cat config/file /${fresh}/file`, { mounts }))).text).toBe('here\nhere\n')
  })

  test('has the token that its pod got where clients look for it', needsMounts, async () => {
    const place = open()
    const path = '/var/run/secrets/kubernetes.io/serviceaccount'
    const mounts = [at(path, volume(place, { token: 'secret\n' }), { name: 'kube-api-access-x7k2p', readOnly: true })]
    const config = main(`cat ${path}/token`, { mounts, workingDirectory: '/usr' })
    expect((await run(place.runtime, config)).text).toBe('secret\n')
  })

  test('says why it could not start where a volume has gone meanwhile', needsMounts, async () => {
    const place = open()
    const files = volume(place)
    const sandbox = await place.runtime.runPodSandbox(sandboxConfig())
    const id = await place.runtime.createContainer(sandbox.id, main('true', { mounts: [at('/media', files)] }))
    rmSync(files, { recursive: true })
    await expect(place.runtime.startContainer(id)).rejects.toThrow(/^failed to start container: .*volume/s)
    const found = (await place.runtime.listContainers()).find((each) => each.id === id)
    expect(found).toMatchObject({ state: 'exited', exitCode: 128, reason: 'StartError' })
  })

  test.each<[string, Partial<ContainerConfig>]>([
    ['without volumes', {}],
    ['with volumes at relative paths', { mounts: [at('data', '/usr')] }],
    ['with a volume where the host has it', { mounts: [at('/usr', '/usr')] }],
  ])('is none %s', needsMounts, async (_, more) => {
    const { text } = await run(open().runtime, main('readlink /proc/self/ns/mnt /proc/self/ns/user', more))
    expect(text).toBe(`${readlinkSync('/proc/self/ns/mnt')}\n${readlinkSync('/proc/self/ns/user')}\n`)
  })

  test('is found among the programs of its PATH, past directories that are closed', needsMounts, async () => {
    const closed = temporaryDirectory()
    chmodSync(closed, 0o700)
    const env = [{ name: 'PATH', value: `${closed}/bin:/usr/bin:/bin` }]
    expect((await run(open().runtime, main(['true'], { env }))).status.exitCode).toBe(0)
  })

  test('is not where mounts of its own would have to be seen by others', needsMounts, async () => {
    const place = open()
    const mounts = [at(`/${fresh}`, volume(place), { propagation: 'Bidirectional' })]
    await expect(start(place.runtime, main('true', { mounts }))).rejects.toThrow(
      `cannot be mounted at /${fresh}: mountPropagation Bidirectional is not there on the process runtime`,
    )
  })
})

const canBeOthers = canHere && runsAsRoot()

describe.skipIf(!canBeOthers)(
  'a container of another user with mounts of its own',
  { meta: { needs: 'root and mount namespaces' } },
  () => {
    const uid = 31_337
    const user: AskedUser = {
      runAsUser: uid,
      runAsGroup: uid,
      supplementalGroups: [31_339],
      onlyTheseGroups: false,
      neverRoot: false,
      noNewPrivileges: false,
    }

    /** A volume that the user may change. */
    function userVolume(place: Place, files: Readonly<Record<string, string>> = {}): string {
      const path = volume(place, files)
      chownSync(path, uid, uid)
      return path
    }

    it('is that user, with its groups, and gets no more rights by programs that obey its files', async () => {
      const place = here()
      const mounts = [at(`/${fresh}`, userVolume(place))]
      const script = `id -u; id -G; grep NoNewPrivs /proc/self/status; echo 1 >/${fresh}/file`
      const said = `${uid}\n${uid} 31339\nNoNewPrivs:\t1\n`
      const id = await start(place.runtime, main(`${script}; exec sleep 1000`, { mounts, user }))
      await expect.poll(() => place.runtime.log(id)).toBe(said)
      expect(await place.runtime.execSync(id, ['sh', '-c', script])).toEqual({ exitCode: 0, output: said })
    })

    it('keeps its rights where nothing but its hosts file is another, and starts where it need not be able to pass to', async () => {
      const place = here()
      chmodSync(place.directory, 0o700)
      const mounts = [at('/etc/hosts', join(volume(place, { hosts: '192.0.2.1 here\n' }), 'hosts'))]
      const script = 'id -u; id -G; grep NoNewPrivs /proc/self/status; cat /etc/hosts; echo 1 >file; cat file'
      const said = `${uid}\n${uid} 31339\nNoNewPrivs:\t0\n192.0.2.1 here\n1\n`
      const id = await start(place.runtime, main(`${script}; exec sleep 1000`, { mounts, user }))
      await expect.poll(() => place.runtime.log(id)).toBe(said)
      expect(await place.runtime.execSync(id, ['sh', '-c', script])).toEqual({ exitCode: 0, output: said })
      const strict = await run(place.runtime, main(script, { mounts, user: { ...user, noNewPrivileges: true } }))
      expect(strict.text).toBe(said.replace('\t0', '\t1'))
    })

    it('has its volumes without a way to where they are, and a place to start in', async () => {
      const place = here()
      chmodSync(place.directory, 0o700)
      const mounts = [at('/media', userVolume(place, { file: 'here\n' }))]
      const { text, status } = await run(place.runtime, main('pwd; cat /media/file; echo 1 >file', { mounts, user }))
      expect([status.exitCode, text]).toEqual([0, '/.coracle/work\nhere\n'])
      const inVolume = main('cat file', { mounts, user, workingDirectory: '/media' })
      expect((await run(place.runtime, inVolume)).text).toBe('here\n')
    })

    it('has nothing of its own run as root', async () => {
      const place = here()
      const shell = '#!/bin/bash\nid -u >>/media/ran\nexec /bin/bash "$@"\n'
      const [bin, out] = [volume(place, { sh: shell, preload: '/media/coracle-test.so\n' }), userVolume(place)]
      const mounts = [
        at('/bin/sh', join(bin, 'sh')),
        at('/etc/ld.so.preload', join(bin, 'preload')),
        at('/media', out),
        ...['setpriv', 'chroot', 'mount', 'unshare', 'nsenter'].map((name) => at(`/usr/bin/${name}`, join(bin, 'sh'))),
        at('/usr/sbin/chroot', join(bin, 'sh')),
      ]
      const id = await start(place.runtime, main('exec sleep 1000', { mounts, user }))
      await place.runtime.execSync(id, ['id', '-u'])
      const ran = readFileSync(join(out, 'ran'), 'utf8').trim().split('\n')
      expect(ran.length).toBeGreaterThanOrEqual(2)
      expect(new Set(ran)).toEqual(new Set([String(uid)]))
    })

    it('is not started where its volumes lead elsewhere meanwhile', async () => {
      const place = here()
      const [outer, inner, secret] = [userVolume(place), volume(place), temporaryDirectory()]
      for (const name of ['in', 'sub']) mkdirSync(join(outer, name))
      const cases: readonly [string, readonly Mount[]][] = [
        ['in', [at('/media', outer), at('/media/in', inner)]],
        ['new', [at('/media', outer), at('/media/new/deep', inner)]],
        ['sub', [at('/media', join(outer, 'sub'), { volumePath: outer })]],
      ]
      for (const [name, mounts] of cases) {
        const sandbox = await place.runtime.runPodSandbox(sandboxConfig())
        const id = await place.runtime.createContainer(sandbox.id, main('true', { mounts, user }))
        rmSync(join(outer, name), { recursive: true, force: true })
        symlinkSync(secret, join(outer, name))
        await expect(place.runtime.startContainer(id)).rejects.toThrow(`${name} is a link`)
        expect(readdirSync(secret)).toEqual([])
        rmSync(join(outer, name))
        mkdirSync(join(outer, name))
      }
    })
  },
)
