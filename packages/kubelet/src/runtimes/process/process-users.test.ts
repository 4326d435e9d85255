/** Containers as other users, which takes root. */
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sandboxConfig } from '../../testing/sandboxes.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { AskedUser, ContainerConfig, ContainerRuntimeStatus, Runtime } from '../runtime.ts'
import { createProcessRuntime } from './process-runtime.ts'
import { runsAsRoot } from './process-user.ts'

const needsRoot = { meta: { needs: 'root on Linux' } }
const patient = new AbortController().signal

/** A user and a group that no host has. */
const uid = 31_337
const gid = 31_338
const stranger: AskedUser = {
  runAsUser: uid,
  runAsGroup: gid,
  supplementalGroups: [],
  onlyTheseGroups: false,
  neverRoot: false,
  noNewPrivileges: false,
}

function open(): { readonly runtime: Runtime; readonly directory: string } {
  const directory = temporaryDirectory()
  chmodSync(directory, 0o711)
  return { runtime: openOn(directory), directory }
}

/** Those that another has taken over from. */
const closed = new WeakSet<Runtime>()

async function restart(runtime: Runtime, directory: string): Promise<Runtime> {
  await runtime.close()
  closed.add(runtime)
  return openOn(directory)
}

function openOn(directory: string): Runtime {
  const runtime = createProcessRuntime({ environment: realEnvironment(), dataDirectory: directory, nodeName: 'node-a' })
  onTestFinished(async () => {
    if (closed.has(runtime)) return
    await Promise.all((await runtime.listContainers()).map(({ id }) => runtime.stopContainer(id, 0)))
    await runtime.close()
  })
  return runtime
}

const main = (script: string): ContainerConfig => ({
  name: 'main',
  attempt: 0,
  image: 'none',
  command: ['sh', '-c', script],
  args: [],
  env: [],
  mounts: [],
  messageFromLog: false,
  user: stranger,
})

/** A volume as the node agent makes it for a pod, with a file that says whose it is. */
function podVolume(directory: string, podUid: string): string {
  const pod = join(directory, 'kubelet', 'node-a', 'pods', podUid)
  mkdirSync(join(pod, 'data'), { recursive: true, mode: 0o700 })
  chmodSync(join(pod, 'data'), 0o777)
  writeFileSync(join(pod, 'data', 'file'), podUid, { mode: 0o644 })
  return join(pod, 'data')
}

async function terminalOutput(runtime: Runtime, id: string, command: readonly string[]): Promise<string> {
  const stdout = new PassThrough()
  let said = ''
  stdout.on('data', (piece) => {
    said += piece
  })
  await runtime.exec(id, command, true, { stdout }, patient)
  return said.trim()
}

async function create(runtime: Runtime, script: string, more: Partial<ContainerConfig> = {}): Promise<string> {
  const sandbox = (await runtime.listPodSandboxes('uid-1'))[0] ?? (await runtime.runPodSandbox(sandboxConfig()))
  return runtime.createContainer(sandbox.id, { ...main(script), ...more })
}

/** Runs a script to its end, and gives what it said and how it ended. */
async function run(runtime: Runtime, script: string, more: Partial<ContainerConfig> = {}) {
  const id = await create(runtime, script, more)
  const end = ended(runtime, id)
  await runtime.startContainer(id)
  const status = await end
  let text = ''
  for await (const piece of runtime.readLog(id, { follow: false, timestamps: false }, patient))
    text += Buffer.from(piece).toString()
  return { id, status, text }
}

function ended(runtime: Runtime, id: string): Promise<ContainerRuntimeStatus> {
  return new Promise((resolve) => {
    const unsubscribe = runtime.subscribe(async () => {
      const found = (await runtime.listContainers()).find((container) => container.id === id)
      if (found?.state !== 'exited') return
      unsubscribe()
      resolve(found)
    })
  })
}

const workDirectory = (directory: string) => join(directory, 'kubelet', 'node-a', 'work', 'uid-1', 'main')

describe.skipIf(!runsAsRoot())('a container that names its user', needsRoot, () => {
  it('runs as that, with its groups and no others', async () => {
    const user = { ...stranger, supplementalGroups: [31_339] }
    const { text, status } = await run(open().runtime, 'id -u; id -g; id -G', { user })
    expect(text).toBe(`${uid}\n${gid}\n${gid} 31339\n`)
    expect(status.user).toEqual({ uid, gid, supplementalGroups: [gid, 31_339] })
  })

  it('is not made where its pod wants users of its own, whose root would be that of the host', async () => {
    const { runtime } = open()
    const refused = runtime.runPodSandbox({ ...sandboxConfig(), ownUsers: true })
    await expect(refused).rejects.toThrow("can't set `spec.hostUsers: false`, runtime does not support user namespaces")
  })

  it('is root where it does not', async () => {
    const { runtime } = open()
    const id = await create(runtime, 'true')
    const sandbox = await runtime.runPodSandbox(sandboxConfig('uid-2'))
    const { user: _, ...plain } = main('id')
    const other = await runtime.createContainer(sandbox.id, plain)
    const users = new Map((await runtime.listContainers()).map((container) => [container.id, container.user?.uid]))
    expect([users.get(id), users.get(other)]).toEqual([uid, 0])
  })

  it('has its variables, the odd ones too, and the home of its account', async () => {
    const env = [
      { name: 'GREETING', value: `it's\n"here"` },
      { name: 'with.dots', value: '$HOME' },
    ]
    const { text } = await run(open().runtime, '', { env, command: ['/usr/bin/env'] })
    const lines = text.split('\n')
    expect(lines).toEqual(expect.arrayContaining([`GREETING=it's`, '"here"', 'HOME=/', 'with.dots=$HOME']))
    expect(lines.filter((line) => /SHLVL|OLDPWD|CORACLE_(USER|LAUNCH)|coracle_/.test(line))).toEqual([])
  })

  it('has none of its variables obeyed by what still runs as root', async () => {
    const env = [{ name: 'LD_PRELOAD', value: '/nowhere/coracle-test.so' }]
    const { text } = await run(open().runtime, ':', { env, command: ['/bin/true'] })
    // The loader complains once for each program that is started so.
    expect(text.match(/coracle-test\.so/g)).toEqual(['coracle-test.so'])
  })

  it('gets no rights by programs that would give it some, where it is to get none', async () => {
    const user = { ...stranger, noNewPrivileges: true }
    expect((await run(open().runtime, 'grep NoNewPrivs /proc/self/status', { user })).text).toBe('NoNewPrivs:\t1\n')
    expect((await run(open().runtime, 'grep NoNewPrivs /proc/self/status')).text).toBe('NoNewPrivs:\t0\n')
  })

  it('writes where it starts, and to its volumes, and reads nothing of the cluster', async () => {
    const { runtime, directory } = open()
    const volume = join(directory, 'kubelet', 'node-a', 'volumes', 'uid-1', 'data')
    mkdirSync(volume, { recursive: true, mode: 0o700 })
    chmodSync(volume, 0o777)
    writeFileSync(join(directory, 'token'), 'secret', { mode: 0o600 })
    const mounts = [{ name: 'data', containerPath: 'some/data', hostPath: volume, readOnly: false }]
    const script = `echo 1 > own && echo 2 > some/data/file && ! cat ${directory}/token 2>/dev/null && ! ls ${directory} 2>/dev/null && pwd`
    const { text, status } = await run(runtime, script, { mounts })
    expect([status.exitCode, text]).toEqual([0, `${workDirectory(directory)}\n`])
    expect(statSync(join(volume, 'file')).uid).toBe(uid)
    expect(statSync(directory).mode & 0o777).toBe(0o711)
  })

  it('passes to the volumes of its own pod and of no other, with all that runs in it, also after a restart of the agent', async () => {
    const { runtime, directory } = open()
    const [own, other] = [podVolume(directory, 'uid-1'), podVolume(directory, 'uid-2')]
    const script = `cat data/file && ! cat ${other}/file 2>/dev/null && ! ls ${other} 2>/dev/null`
    const mounts = (hostPath: string) => [{ name: 'data', containerPath: 'data', hostPath, readOnly: false }]
    const { text, status } = await run(runtime, script, { mounts: mounts(own) })
    expect([status.exitCode, text]).toEqual([0, 'uid-1'])
    expect(status.user?.supplementalGroups).toEqual([gid])
    const second = await runtime.runPodSandbox(sandboxConfig('uid-2'))
    const container = { ...main('exec sleep 1000'), mounts: mounts(other), user: { ...stranger, runAsUser: 65_534 } }
    const id = await runtime.createContainer(second.id, container)
    await runtime.startContainer(id)
    const looks = ['sh', '-c', `cat data/file && ! cat ${own}/file 2>/dev/null`]
    const seen = { exitCode: 0, output: 'uid-2' }
    expect(await runtime.execSync(id, looks, patient)).toEqual(seen)
    const next = await restart(runtime, directory)
    expect(await next.execSync(id, looks, patient)).toEqual(seen)
    expect(await terminalOutput(next, id, ['cat', 'data/file'])).toBe('uid-2')
    const again = await run(next, script, { mounts: mounts(own), attempt: 1 })
    expect([again.status.exitCode, again.text]).toEqual([0, 'uid-1'])
  })

  it('shares claims and directories of the host with other pods, with no group of its own for them', async () => {
    const { runtime, directory } = open()
    const volume = join(directory, 'kubelet', 'node-a', 'volumes', 'pvc-1')
    mkdirSync(volume, { recursive: true, mode: 0o700 })
    chmodSync(volume, 0o777)
    const mounts = [{ name: 'data', containerPath: 'data', hostPath: volume, readOnly: false }]
    expect((await run(runtime, 'echo 1 > data/file; id -G', { mounts })).text).toBe(`${gid}\n`)
    const second = await runtime.runPodSandbox(sandboxConfig('uid-2'))
    const id = await runtime.createContainer(second.id, { ...main('cat data/file'), mounts })
    const end = ended(runtime, id)
    await runtime.startContainer(id)
    expect((await end).exitCode).toBe(0)
  })

  it('keeps its way to volumes that an older version left open', async () => {
    const { runtime, directory } = open()
    const volume = podVolume(directory, 'uid-1')
    chmodSync(join(volume, '..'), 0o755)
    const mounts = [{ name: 'data', containerPath: 'data', hostPath: volume, readOnly: false }]
    expect((await run(runtime, 'cat data/file', { mounts })).text).toBe('uid-1')
    expect(statSync(join(volume, '..')).mode & 0o777).toBe(0o755)
  })

  it('is refused where it may not pass to its volumes, with what to do', async () => {
    const { runtime, directory } = open()
    const volume = join(directory, 'kubelet', 'node-a', 'volumes', 'uid-1', 'data')
    mkdirSync(volume, { recursive: true })
    chmodSync(directory, 0o700)
    const mounts = [{ name: 'data', containerPath: 'data', hostPath: volume, readOnly: false }]
    await expect(create(runtime, 'true', { mounts })).rejects.toThrow(
      `user ${uid} may not pass ${directory}, which leads to volume "data": let others pass it (chmod go+x ${directory}), or keep the data where they may (--data-dir)`,
    )
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    expect((await run(runtime, 'id -u')).text).toBe(`${uid}\n`)
  })

  it('does not start in a directory that is closed to its user', async () => {
    const { runtime } = open()
    const closed = temporaryDirectory()
    mkdirSync(join(closed, 'in'))
    chmodSync(closed, 0o700)
    const workingDirectory = join(closed, 'in')
    const id = await create(runtime, 'true', { workingDirectory })
    await expect(runtime.startContainer(id)).rejects.toThrow(
      `failed to start container: chdir to cwd ("${workingDirectory}") set in workingDir failed: permission denied`,
    )
  })

  it('has its last words read', async () => {
    const { status } = await run(open().runtime, 'echo bye > "$CORACLE_TERMINATION_MESSAGE_PATH"')
    expect(status.message).toBe('bye\n')
    const named = await run(open().runtime, 'echo bye > words', { terminationMessagePath: 'words' })
    expect(named.status.message).toBe('bye\n')
  })

  it('has nobody else’s words read for its own', async () => {
    const secrets = temporaryDirectory()
    const script = `mkdir there && while [ ! -e ${secrets}/go ]; do sleep 0.01; done; rmdir there; ln -s ${secrets} there`
    const { runtime } = open()
    chmodSync(secrets, 0o711)
    const id = await create(runtime, script, { terminationMessagePath: 'there/words' })
    const end = ended(runtime, id)
    await runtime.startContainer(id)
    writeFileSync(join(secrets, 'words'), 'secret', { mode: 0o600 })
    writeFileSync(join(secrets, 'go'), '')
    expect((await end).message ?? '').toBe('')
    expect(readFileSync(join(secrets, 'words'), 'utf8')).toBe('secret')
  })

  it('cannot have its next run write or remove elsewhere as root', async () => {
    const { runtime, directory } = open()
    const [volume, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
    for (const path of [volume, elsewhere]) chmodSync(path, 0o711)
    writeFileSync(join(elsewhere, 'words'), 'kept')
    const mounts = [{ name: 'data', containerPath: 'some/data', hostPath: volume, readOnly: false }]
    const script = `mv some other && ln -s ${elsewhere} some`
    const first = await run(runtime, script, { mounts })
    expect(first.status.exitCode).toBe(0)
    await expect(create(runtime, 'true', { mounts, attempt: 1 })).rejects.toThrow(
      'there is something else in its place',
    )
    rmSync(join(workDirectory(directory), 'some'))
    symlinkSync(elsewhere, join(workDirectory(directory), 'some'))
    await run(runtime, 'true', { attempt: 2, terminationMessagePath: 'some/words' })
    expect(readFileSync(join(elsewhere, 'words'), 'utf8')).toBe('kept')
  })

  it('finds its volumes again after a restart', async () => {
    const { runtime } = open()
    const volume = temporaryDirectory()
    chmodSync(volume, 0o755)
    writeFileSync(join(volume, 'file'), 'here', { mode: 0o644 })
    const mounts = [{ name: 'data', containerPath: 'some/data', hostPath: volume, readOnly: false }]
    for (const attempt of [0, 1]) {
      expect((await run(runtime, 'cat some/data/file', { mounts, attempt })).text).toBe('here')
    }
  })

  it('may open its input and its output again by their names', async () => {
    const { runtime } = open()
    const script = 'echo out >/dev/stdout; echo err >/dev/stderr'
    expect((await run(runtime, script)).text).toBe('out\nerr\n')
    expect((await run(runtime, `${script}; echo >/dev/tty`, { attempt: 1, tty: true })).text).toBe('out\r\nerr\r\n\r\n')
    const id = await create(runtime, 'exec sleep 1000', { attempt: 2 })
    await runtime.startContainer(id)
    for (const tty of [false, true]) {
      const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
      let said = ''
      for (const stream of tty ? [stdout] : [stdout, stderr]) {
        stream.on('data', (piece) => {
          said += piece
        })
      }
      stdin.end('in\n')
      const command = ['sh', '-c', `${tty ? '' : 'cat /dev/stdin; '}${script}`]
      const streams = tty ? { stdout } : { stdin, stdout, stderr }
      expect(await runtime.exec(id, command, tty, streams, patient)).toBe(0)
      expect(said.split(/\r?\n/).sort()).toEqual(tty ? ['', 'err', 'out'] : ['', 'err', 'in', 'out'])
    }
  })

  it('has commands run beside it as its user, on a terminal too', async () => {
    const { runtime } = open()
    const id = await create(runtime, 'exec sleep 1000')
    await runtime.startContainer(id)
    expect(await runtime.execSync(id, ['id', '-u'], patient)).toEqual({ exitCode: 0, output: `${uid}\n` })
    for (const tty of [false, true]) {
      const stdout = new PassThrough()
      let said = ''
      stdout.on('data', (piece) => {
        said += piece
      })
      await runtime.exec(id, ['id', '-u'], tty, { stdout }, patient)
      expect(said.trim()).toBe(String(uid))
    }
  })

  it('has a terminal', async () => {
    const { text } = await run(open().runtime, 'id -u; tty', { tty: true })
    expect(text).toMatch(new RegExp(`^${uid}\\r\\n/dev/pts/\\d+\\r\\n$`))
  })
})
