import { once } from 'node:events'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Api, post } from './support/api.ts'
import { configMap, paths } from './support/objects.ts'
import { eventually, Program, runCoracle } from './support/program.ts'

const needsRoot = { meta: { needs: 'root' } }

// The program as someone meets it: how it starts, what it says, and what it leaves.

const example = join(import.meta.dirname, '..', 'examples', 'frontend-controller.json')
const { configMaps } = paths
const simulated = ['--runtime', 'simulated']

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'coracle-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

/** Permissions, as `ls` has them in octal. */
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8)

function connects(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 60_000 })
    const answer = (value: boolean) => {
      socket.destroy()
      resolve(value)
    }
    socket
      .on('connect', () => answer(true))
      .on('error', () => answer(false))
      .on('timeout', () => answer(false))
  })
}

describe('coracle up', () => {
  it('says in one line that it is ready, when all it speaks of is there, for its owner alone', async () => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir, args: simulated })
    expect(program.output).toEqual([program.readyLine])
    expect(program.readyLine).toMatch(/^Coracle is ready at https:\/\/127\.0\.0\.1:\d+ after \d+ ms \(KUBECONFIG=.+\)$/)
    expect(program.readyLine).toContain(`KUBECONFIG=${program.kubeconfig}`)
    expect(await modeOf(dataDir)).toBe('700')
    for (const name of ['kubeconfig', 'token', 'pki/ca.key', 'pki/apiserver.key', 'pki/admin.key']) {
      expect([name, await modeOf(join(dataDir, name))]).toEqual([name, '600'])
    }
    const api = await Api.of(program)
    expect((await api.call('/readyz')).text).toBe('ok')
    const { items } = await api.object('/api/v1/nodes')
    expect(items[0].status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
    api.close()
  })

  it('shows at /flagz what is in force, also what it has chosen itself', async () => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir, args: [...simulated, '--max-requests-inflight', '300'] })
    const api = await Api.of(program)
    const accept = 'application/json;v=v1beta1;g=config.k8s.io;as=Flagz'
    const { flags } = (await api.call('/flagz', { headers: { accept } })).json
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(program.readyLine) ?? []
    expect(flags).toMatchObject({
      port,
      'data-dir': dataDir,
      nodes: '1',
      runtime: 'simulated',
      'max-requests-inflight': '300',
      'max-mutating-requests-inflight': '200',
      'node-prefix': 'node-',
      'service-cluster-ip-range': '10.96.0.0/12',
      'run-time': '2s',
    })
    api.close()
  })

  it('shows at /flagz the range that services have kept, where none is asked for', async () => {
    const dataDir = join(home, 'data')
    const shown = async (...flags: readonly string[]) => {
      await using program = await Program.start({ dataDir, args: [...simulated, ...flags] })
      const api = await Api.of(program)
      const accept = 'application/json;v=v1beta1;g=config.k8s.io;as=Flagz'
      const { json } = await api.call('/flagz', { headers: { accept } })
      api.close()
      return json.flags['service-cluster-ip-range']
    }
    expect(await shown('--service-cluster-ip-range', '10.97.0.0/24')).toBe('10.97.0.0/24')
    expect(await shown()).toBe('10.97.0.0/24')
    expect(await shown('--service-cluster-ip-range', '10.98.0.0/24')).toBe('10.97.0.0/24')
  })

  it('listens on 127.0.0.1 and nowhere else, and ends in good order on SIGTERM', async () => {
    await using program = await Program.start({ args: ['--memory', ...simulated] })
    const port = Number(new URL(program.address).port)
    expect(await connects('127.0.0.1', port)).toBe(true)
    const others = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .filter(({ scopeid }) => scopeid === undefined || scopeid === 0)
      .map(({ address }) => address)
      .filter((address) => address !== '127.0.0.1')
    for (const address of ['127.0.0.2', '::1', ...others]) {
      expect([address, await connects(address, port)]).toEqual([address, false])
    }
    expect(await program.end('SIGTERM')).toBe(0)
    expect(program.output.at(-1)).toMatch(/stopped after \d+ ms$/)
  })

  it('keeps objects, certificates and token from a Ctrl-C to the next start', async () => {
    const dataDir = join(home, 'data')
    const read = () =>
      Promise.all(['token', 'pki/ca.crt', 'pki/admin.crt'].map((name) => readFile(join(dataDir, name))))
    const before = await Program.start({ dataDir, args: simulated })
    const first = await Api.of(before)
    const made = await first.object(configMaps, post(configMap('kept')))
    first.close()
    const kept = await read()
    expect(await before.end('SIGINT')).toBe(0)
    expect(before.output.at(-1)).toMatch(/stopped after \d+ ms$/)

    await using after = await Program.start({ dataDir, args: simulated })
    expect(await read()).toEqual(kept)
    const second = await Api.of(after)
    expect(await second.object(`${configMaps}/kept`)).toEqual(made)
    second.close()
    expect(await after.kubectlOk(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n')
  })

  it('keeps no objects with --memory, but who may talk to it', async () => {
    const dataDir = join(home, 'data')
    const before = await Program.start({ dataDir, args: ['--memory', ...simulated] })
    const first = await Api.of(before)
    await first.object(configMaps, post(configMap('passing')))
    first.close()
    const token = await readFile(join(dataDir, 'token'), 'utf8')
    await before.end('SIGINT')

    await using after = await Program.start({ dataDir, args: ['--memory', ...simulated] })
    const second = await Api.of(after)
    expect((await second.call(`${configMaps}/passing`)).code).toBe(404)
    expect(await readFile(join(dataDir, 'token'), 'utf8')).toBe(token)
    second.close()
  })

  it('has the nodes it is to have, applies files, and tells of what happens, a line each', async () => {
    await using program = await Program.start({ args: ['--memory', ...simulated, '--nodes', '2', '-f', example] })
    expect(await program.kubectlOk(['get', 'nodes', '-o', 'name'])).toBe('node/node-0\nnode/node-1\n')
    await eventually('two pods', async () => program.output.filter((line) => / ready$/.test(line)).length === 2)
    const said = (what: RegExp) => program.output.filter((line) => what.test(line)).length
    expect(said(/replicationcontroller\/frontend-controller +created from .*frontend-controller\.json$/)).toBe(1)
    expect(said(/pod\/frontend-controller-\w+ +created by replication-controller: /)).toBe(2)
    expect(said(/pod\/frontend-controller-\w+ +scheduled to node-[01]$/)).toBe(2)
  })
})

describe('coracle up that cannot start', () => {
  /** What it says: one line, on standard error. */
  const refusal = async (args: readonly string[], options: { uid?: number; gid?: number } = {}): Promise<string> => {
    const { code, stdout, stderr } = await runCoracle(['up', ...simulated, ...args], options)
    expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2])
    return stderr.trimEnd()
  }

  it('names the port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(await refusal(['--data-dir', join(home, 'data'), '--port', String(port)])).toMatch(
      new RegExp(
        `^error: port ${port} of 127.0.0.1 is in use( by process ${process.pid} \\(.*\\))?: ` +
          'stop that, or choose another with --port \\(0 picks a free one\\)$',
      ),
    )
    server.close()
  })

  it('names the process that has the data directory, and leaves it alone', async () => {
    const dataDir = join(home, 'data')
    await using program = await Program.start({ dataDir, args: simulated })
    expect(await refusal(['--data-dir', dataDir, '--port', '0'])).toBe(
      `error: ${dataDir} is in use by process ${program.pid}: stop that with \`coracle down --data-dir ${dataDir}\`, or choose another directory with --data-dir`,
    )
    // The first goes on as if nothing had been.
    expect(await program.kubectlOk(['get', 'nodes', '-o', 'name'])).toBe('node/node-0\n')
  })

  it('says why it cannot have the data directory', async () => {
    const file = join(home, 'file')
    await writeFile(file, '')
    expect(await refusal(['--data-dir', file, '--port', '0'])).toBe(
      `error: cannot write to ${file} (it is a file): choose another directory with --data-dir`,
    )
    const below = join(file, 'data')
    expect(await refusal(['--data-dir', below, '--port', '0'])).toBe(
      `error: cannot write to ${below} (part of the path is a file): choose another directory with --data-dir`,
    )
  })

  it.skipIf(process.getuid?.() !== 0)('says that it may not write the data directory', needsRoot, async () => {
    await chmod(home, 0o755)
    const dataDir = join(home, 'data')
    expect(await refusal(['--data-dir', dataDir, '--port', '0'], nobody)).toBe(
      `error: cannot write to ${dataDir} (permission denied): choose another directory with --data-dir`,
    )
  })

  it('reads the files it is to apply before it begins', async () => {
    const dataDir = join(home, 'data')
    const missing = join(home, 'missing.yaml')
    expect(await refusal(['--data-dir', dataDir, '-f', missing])).toBe(`error: the path "${missing}" does not exist`)
    const broken = join(home, 'broken.yaml')
    await writeFile(broken, 'kind: [\n')
    expect(await refusal(['--data-dir', dataDir, '-f', broken])).toContain(broken)
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it.each([
    [['--frobnicate'], 'error: unknown flag: --frobnicate'],
    [['--node', '2'], 'error: unknown flag: --node\n(Did you mean --nodes?)'],
    [
      ['--port', '0', '--runtime', 'cri', '--container-runtime-endpoint', 'unix:///nowhere/cri.sock'],
      'error: no container runtime listens at unix:///nowhere/cri.sock: start it, as with `systemctl start containerd`, or name the socket of another',
    ],
    [
      ['--runtime', 'dockerd'],
      'error: invalid argument "dockerd" for "--runtime" flag: Allowed choices are process, simulated, cri, docker.',
    ],
    [['--port', '70000'], 'error: invalid argument "70000" for "--port" flag: "70000" is no port from 0 up to 65535'],
    [
      ['--nodes', 'many'],
      'error: invalid argument "many" for "--nodes" flag: strconv.ParseInt: parsing "many": invalid syntax',
    ],
    [['--missing-images', 'web:broken'], 'error: --missing-images is for simulated nodes'],
    [
      ['--pod-manifest-path', '.', '--runtime', 'simulated'],
      'error: --pod-manifest-path is for nodes whose containers run something',
    ],
    [['--runtime-config', 'extensions/v1beta1'], 'error: --runtime-config: "extensions/v1beta1" is no version'],
  ])('says which flag is wrong: %s', async (args, message) => {
    const { code, stderr } = await runCoracle(['up', '--data-dir', join(home, 'data'), ...args])
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
  })
})

/** Someone without rights, on any Linux. */
const nobody = { uid: 65_534, gid: 65_534 }

describe.skipIf(process.getuid?.() !== 0)('a user without rights', needsRoot, () => {
  it('has a whole cluster of real processes', async () => {
    const dataDir = join(home, 'data')
    await chmod(home, 0o755)
    await mkdir(dataDir)
    await chown(dataDir, nobody.uid, nobody.gid)
    await using program = await Program.start({ dataDir, args: ['-f', example], env: { HOME: dataDir }, ...nobody })
    expect((await stat(program.kubeconfig)).uid).toBe(nobody.uid)
    const api = await Api.of(program)
    const pods = await eventually('two pods', async () => {
      const { items } = await api.object(paths.pods)
      // biome-ignore lint/suspicious/noExplicitAny: an object of any kind
      return items.length === 2 && items.every(({ status }: any) => status.containerStatuses?.[0]?.ready) && items
    })
    for (const { metadata, status } of pods) {
      const answer = await eventually('an answer', async () => fetch(`http://${status.podIP}:8080`))
      expect(await answer.text()).toBe(`hello from ${metadata.name}\n`)
    }
    api.close()
  })
})
