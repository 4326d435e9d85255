import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeconfigEdit, parseKubeconfig } from '@coracle/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hostProcesses } from './host-processes.ts'
import { runningServer } from './local/running-server.ts'
import { run } from './program.ts'
import { type RecordingHost, type RecordingOptions, recordingHost, runCommand } from './testing/recording-host.ts'
import { serverLogPath } from './up/server-log.ts'

// Two clusters of one directory, served by this process: what commands say of them, and do to them.

let directory: string
let servers: readonly Server[]

interface Server {
  readonly host: RecordingHost
  readonly ended: Promise<number>
}

const common = ['--memory', '--runtime', 'simulated', '--port', '0', '--nodes', '2']

async function startServer(args: readonly string[], more: RecordingOptions = {}): Promise<Server> {
  const ready = Promise.withResolvers<void>()
  const host = recordingHost({
    workingDirectory: directory,
    ...more,
    onOutput: (text) => text.includes('ready') && ready.resolve(),
  })
  const ended = run(['up', ...common, ...args], host)
  await Promise.race([ready.promise, ended])
  return { host, ended }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'clusters-'))
  servers = [await startServer([]), await startServer(['--name', 'staging', '-o', 'json'])]
  // Only one of them has a pod.
  await coracle('--context staging create -f -', {
    stdin: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
  })
  await coracle('--context staging wait --for=condition=Ready pod/p')
})

afterAll(async () => {
  for (const { host, ended } of servers) {
    host.interrupt()
    await ended
  }
  await rm(directory, { recursive: true, force: true })
})

const coracle = (line: string, more: RecordingOptions = {}) =>
  runCommand(line.split(' '), { workingDirectory: directory, homeDirectory: directory, ...more })

const home = (...path: readonly string[]) => join(directory, '.coracle', ...path)

describe('up --name', () => {
  it('has all contexts in one kubeconfig, and leaves the current one as it is', async () => {
    const path = home('kubeconfig')
    const { contexts, currentContext } = await parseKubeconfig(await readFile(path, 'utf8'), path)
    expect([[...contexts.keys()], currentContext]).toEqual([['coracle', 'staging'], 'coracle'])
    const { stdout } = await coracle('--context staging get nodes -o name')
    expect(stdout).toBe('node/node-0\nnode/node-1\n')
  })

  it('is refused where the cluster runs', async () => {
    expect(await coracle(`up --name staging ${common.join(' ')}`)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `error: .coracle/clusters/staging is in use by process ${process.pid}: ` +
        'stop that with `coracle down --name staging`, or choose another directory with --data-dir or --name\n',
    })
  })
})

describe('up', () => {
  it('says that it is ready before it tells of anything, however much happens', async () => {
    const { host, ended } = await startServer(['--data-dir', 'many', '--nodes', '200'])
    host.interrupt()
    await ended
    expect(host.written.stdout).toMatch(/^Coracle is ready at /)
  })
})

describe('up that fails', () => {
  it('leaves no server behind where the kubeconfig of all clusters cannot be written', async () => {
    const workingDirectory = await mkdtemp(join(directory, 'failing-'))
    await mkdir(join(workingDirectory, '.coracle', 'kubeconfig'), { recursive: true })
    const args = ['up', '--name', 'one', '--runtime', 'simulated', '--port', '0']
    const { code, stderr } = await runCommand(args, { workingDirectory })
    expect([code, stderr]).toEqual([1, expect.stringContaining('EISDIR')])
    expect(runningServer({ directory: join(workingDirectory, '.coracle/clusters/one') }, hostProcesses)).toBe(undefined)
    expect((await runCommand(['status', '--name', 'one'], { workingDirectory })).stdout).toMatch(/^one +stopped/m)
  })

  it.each([
    [
      'an empty address',
      ['--listen', ''],
      'error: --listen is empty: give an address, or 0.0.0.0 for all of this machine\n',
    ],
    [
      'names that no node can have',
      ['--node-prefix', '../x'],
      /^error: --node-prefix: no node can be named "\.\.\/x0": a lowercase RFC 1123/,
    ],
  ])('makes nothing for %s', async (_, args, message) => {
    const workingDirectory = await mkdtemp(join(directory, 'refused-'))
    const { code, stderr } = await runCommand(['up', ...common, ...args], { workingDirectory })
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
    expect(existsSync(join(workingDirectory, '.coracle'))).toBe(false)
  })
})

describe('up -o json', () => {
  it('tells what happens as an object a line', async () => {
    const [, staging] = servers
    const lines = () =>
      `${staging?.host.written.stdout}`
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    await expect.poll(lines).toContainEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      type: 'change',
      object: 'pod/p',
      message: 'ready',
      severity: 'good',
    })
    expect(lines()[0]).toEqual({
      type: 'ready',
      name: 'staging',
      url: expect.stringContaining('https://127.0.0.1:'),
      kubeconfig: home('clusters', 'staging', 'kubeconfig'),
      milliseconds: expect.any(Number),
      pid: process.pid,
    })
  })
})

describe('status', () => {
  it('tells of each cluster of the directory', async () => {
    const { code, stdout } = await coracle('status')
    const [headers, ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect([code, headers]).toEqual([
      0,
      ['NAME', 'STATE', 'URL', 'PID', 'UPTIME', 'NODES', 'PODS', 'OBJECTS', 'MEMORY', 'DISK'],
    ])
    expect(rows.map((row) => row.slice(0, 2))).toEqual([
      ['coracle', 'running'],
      ['staging', 'running'],
    ])
    for (const row of rows) {
      expect(row.slice(3)).toEqual([
        `${process.pid}`,
        expect.stringMatching(/^(\d+[hms])+$/),
        '2',
        expect.stringMatching(/^\d$/),
        expect.stringMatching(/^\d+$/),
        expect.stringMatching(/^\d+Mi$/),
        expect.stringMatching(/^\d+Mi$/),
      ])
    }
  })

  it('tells programs of the one that is named', async () => {
    const { clusters } = JSON.parse((await coracle('status --name staging -o json')).stdout)
    expect(clusters).toEqual([
      expect.objectContaining({
        name: 'staging',
        state: 'running',
        directory: home('clusters', 'staging'),
        pid: process.pid,
        store: 'memory',
        runtime: 'simulated',
        detached: false,
        nodes: 2,
        objects: expect.any(Number),
      }),
    ])
    expect(clusters[0].objects).toBeGreaterThan(10)
  })

  it('is exit code 1 where nothing runs', async () => {
    const { code, stdout } = await coracle('status --data-dir elsewhere')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^coracle +stopped +- /m)
    expect(await coracle('status', { workingDirectory: tmpdir() })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: no cluster was ever started here: begin with `coracle up`\n',
    })
  })

  it('tells a server that was killed from one that was stopped', async () => {
    const record = await readFile(home('server.json'), 'utf8')
    const left = join(directory, 'left')
    await startServer(['--data-dir', left]).then(({ host, ended }) => {
      host.interrupt()
      return ended
    })
    expect((await coracle('status --data-dir left')).stdout).toMatch(/^coracle +stopped/m)
    await writeFile(join(left, 'server.json'), record)
    expect((await coracle('status --data-dir left')).stdout).toMatch(/^coracle +killed/m)
  })
})

describe('use', () => {
  it('chooses the cluster that commands mean', async () => {
    expect((await coracle('use staging')).stdout).toBe('staging is the current context of .coracle/kubeconfig\n')
    expect((await coracle('get pods -o name')).stdout).toBe('pod/p\n')
    const variables = { KUBECONFIG: '/elsewhere' }
    expect((await coracle('use coracle', { variables })).stderr).toContain('Warning: KUBECONFIG names other files')
    expect((await coracle('get pods -o name')).stdout).toBe('')
  })

  it('names those there are', async () => {
    expect((await coracle('use other')).stderr).toBe(
      'error: there is no cluster "other" here, there are coracle, staging: begin one with `coracle up --name other`\n',
    )
  })
})

describe('kubeconfig', () => {
  const given = `# mine
apiVersion: v1
kind: Config
clusters:
- name: work
  cluster:
    server: https://work:6443
users: []
contexts:
- name: work
  context:
    cluster: work
    user: ""
current-context: work # for now
`
  let file: string
  beforeEach(async () => {
    file = join(directory, 'config')
    await writeFile(file, given)
  })

  it('prints what one cluster alone needs', async () => {
    const { stdout } = await coracle('kubeconfig print --name coracle')
    const { contexts, currentContext } = await parseKubeconfig(stdout, '')
    expect([[...contexts.keys()], currentContext]).toEqual([['coracle'], 'coracle'])
    expect((await coracle('kubeconfig print --name staging')).stdout).toBe(
      await readFile(home('clusters', 'staging', 'kubeconfig'), 'utf8'),
    )
  })

  it('is merged into another, works there, and comes out again without a trace', async () => {
    expect((await coracle('kubeconfig merge --name staging --into config --use')).stdout).toBe(
      `context "staging" added to ${file} (\`coracle kubeconfig remove --name staging --from config\` takes it out again)\n`,
    )
    const merged = await readFile(file, 'utf8')
    expect(merged).toContain('# mine\n')
    expect((await coracle('--kubeconfig config get nodes -o name')).stdout).toBe('node/node-0\nnode/node-1\n')
    // The same once more changes nothing.
    expect((await coracle('kubeconfig merge --name staging --into config')).stdout).toContain('brought up to date')
    expect(await readFile(file, 'utf8')).toBe(merged)
    await coracle('kubeconfig remove --name staging --from config')
    expect(await readFile(file, 'utf8')).toBe(given)
    expect((await coracle('kubeconfig remove --name staging --from config')).stdout).toContain('has nothing of')
  })

  it('leaves entries of others alone, and takes another name', async () => {
    const edit = await KubeconfigEdit.parse(given, file)
    edit.set('user', 'staging-admin', { token: 'of somebody else' })
    await writeFile(file, edit.toString())
    const { code, stderr } = await coracle('kubeconfig merge --name staging --into config')
    expect([code, stderr]).toEqual([
      1,
      `error: ${file} has a user "staging-admin" already, which is not that of ${home('clusters', 'staging')}: ` +
        'give this one another name with --context-name\n',
    ])
    expect(await readFile(file, 'utf8')).toBe(edit.toString())
    expect((await coracle('kubeconfig merge --name staging --into config --context-name mine')).code).toBe(0)
    expect((await coracle('--kubeconfig config --context mine get pods -o name')).stdout).toBe('pod/p\n')
    expect((await KubeconfigEdit.parse(await readFile(file, 'utf8'), file)).currentContext).toBe('work')
  })

  it('is made in ~/.kube where there is none, and waits for nobody who changes it', async () => {
    expect((await coracle('kubeconfig merge')).code).toBe(0)
    const made = join(directory, '.kube', 'config')
    const { contexts, currentContext } = await parseKubeconfig(await readFile(made, 'utf8'), made)
    expect([[...contexts.keys()], currentContext]).toEqual([['coracle'], 'coracle'])
    await writeFile(`${made}.lock`, '')
    expect((await coracle('kubeconfig remove')).stderr).toContain('is being changed by another program')
    expect(existsSync(`${made}.lock`)).toBe(true)
  })

  it('says that a cluster has none yet', async () => {
    expect((await coracle('kubeconfig print --name never')).stderr).toBe(
      'error: .coracle/clusters/never has no kubeconfig: it is written when the cluster starts (`coracle up --name never`)\n',
    )
  })
})

describe('server-logs', () => {
  it('prints what a detached server has told, or its last lines', async () => {
    const host = recordingHost({ workingDirectory: directory })
    await writeFile(serverLogPath(home('clusters', 'staging')), 'one\ntwo\nthree\n')
    expect((await coracle('server-logs --name staging')).stdout).toBe('one\ntwo\nthree\n')
    expect((await coracle('server-logs --name staging --tail 2')).stdout).toBe('two\nthree\n')
    expect(host.written.stderr).toBe('')
    expect((await coracle('server-logs')).stderr).toBe(
      'error: no detached server has run in .coracle: those alone write a log (coracle up --detach)\n',
    )
  })

  it('goes on while the server runs, and ends when nobody reads', async () => {
    const path = serverLogPath(home('clusters', 'staging'))
    await writeFile(path, 'one\ntwo\nthree\n')
    const host = recordingHost({
      workingDirectory: directory,
      onOutput(text) {
        if (text.endsWith('three\n')) void appendFile(path, 'four\n')
        if (text.endsWith('four\n')) host.interrupt()
      },
    })
    expect(await run(['server-logs', '--name', 'staging', '--tail', '1', '-f'], host)).toBe(0)
    expect(host.written.stdout).toBe('three\nfour\n')
  })
})

describe('up --detach', () => {
  it('starts the same command once more, and tells what that announces', async () => {
    const announced = { url: 'https://127.0.0.1:7000', milliseconds: 300, pid: 42 }
    const started: unknown[] = []
    const { code, stdout } = await coracle('up -d --data-dir detached', {
      startDetached(...given) {
        started.push(given)
        return { pid: 42, outcome: Promise.resolve({ announced }) }
      },
    })
    expect([code, stdout]).toEqual([
      0,
      'Coracle is ready at https://127.0.0.1:7000 after 300 ms (KUBECONFIG=detached/kubeconfig)\n',
    ])
    expect(started).toEqual([[['up', '-d', '--data-dir', 'detached'], join(directory, 'detached', 'server.log')]])
  })

  it('shows what a server has said that does not start, and nothing from before', async () => {
    const log = join(directory, 'failing', 'server.log')
    await rm(join(directory, 'failing'), { recursive: true, force: true })
    const start = (said: string) =>
      coracle('up -d --data-dir failing', {
        startDetached: () => ({ pid: 42, outcome: appendFile(log, said).then(() => ({ exitCode: 1 })) }),
      })
    expect(await start('')).toMatchObject({
      code: 1,
      stderr: `error: the server has ended without a word; its log is ${log}\n`,
    })
    expect(await start('error: first\n')).toEqual({ code: 1, stdout: '', stderr: 'error: first\n' })
    expect(await start('error: second\n')).toMatchObject({ stderr: 'error: second\n' })
  })

  it('announces itself where it was started so', async () => {
    const { host, ended } = await startServer(['-d', '--data-dir', 'own'], { variables: { CORACLE_DETACHED: '1' } })
    await expect
      .poll(() => host.announcements)
      .toEqual([{ url: expect.stringContaining('https://'), milliseconds: expect.any(Number), pid: process.pid }])
    host.interrupt()
    expect(await ended).toBe(0)
  })

  it('takes no objects from standard input', async () => {
    expect((await coracle('up -d -f -')).stderr).toContain('--detach cannot go on reading standard input')
  })
})

describe('down', () => {
  /** Processes of this machine, of which one gets no signals. */
  const deaf = (signals: string[]): RecordingOptions => ({
    processes: { ...hostProcesses, signal: (process, signal) => signals.push(`${process.pid} ${signal}`) },
  })

  it('waits so long, and says what may be done then', async () => {
    const signals: string[] = []
    const { code, stderr } = await coracle('down --name staging --timeout 1ms', deaf(signals))
    expect([code, signals]).toEqual([1, [`${process.pid} SIGTERM`]])
    expect(stderr).toContain('staging has not stopped within 0.001 s; process ')
    expect(stderr).toContain('`coracle down --name staging`')
  })

  it('stops a server and returns when it has ended', async () => {
    const signals: string[] = []
    const workingDirectory = join(directory, 'beside')
    await mkdir(workingDirectory)
    const staging = await startServer(['--name', 'staging'], { workingDirectory })
    let isAlive = true
    void staging.ended.then(() => {
      isAlive = false
    })
    const { code, stdout } = await coracle('down --name staging', {
      workingDirectory,
      processes: { ...hostProcesses, isAlive: () => isAlive, signal: () => staging.host.interrupt() },
    })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^staging stopped after \d+ ms\n$/)])
    expect(await coracle('down --name staging', { workingDirectory, ...deaf(signals) })).toEqual({
      code: 0,
      stdout: 'nothing runs in .coracle/clusters/staging\n',
      stderr: '',
    })
    expect(signals).toEqual([])
    expect((await coracle('get pods --context staging', { workingDirectory })).stderr).toContain(
      'Start it with `npx coracle up --name staging`',
    )
  })

  it('leaves a process alone that has the directory for something else', async () => {
    const signals: string[] = []
    const path = home('server.json')
    const record = await readFile(path, 'utf8')
    await writeFile(path, record.replace(`"pid":${process.pid}`, '"pid":1'))
    const { code, stderr } = await coracle('down', deaf(signals))
    await writeFile(path, record)
    expect([code, signals]).toEqual([1, []])
    expect(stderr).toContain(`in use by process ${process.pid}, which is no \`coracle up\` that is ready`)
  })

  it('never takes another process for the one that had its id', async () => {
    const signals: string[] = []
    const processes = {
      ...hostProcesses,
      read: (pid: number) => {
        const found = hostProcesses.read(pid)
        return found && { ...found, started: 'later' }
      },
      signal: () => signals.push('signal'),
    }
    const { code, stderr } = await coracle('down', { processes })
    expect([code, signals]).toEqual([1, []])
    expect(stderr).toContain('by whom cannot be told')
  })
})
