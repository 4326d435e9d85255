import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap } from './support/objects.ts'
import { coracleFile, eventually, Program, run, runCoracle } from './support/program.ts'

// Coracle's own command line against the running program.

const example = join(import.meta.dirname, '..', 'examples', 'frontend-controller.json')

describe('the coracle command', () => {
  let program: Program
  let home: string
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'coracle-'))
    program = await Program.start({ args: ['--memory'] })
  })
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await rm(home, { recursive: true, force: true })
  })
  const ok = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await program.coracle(args, input === undefined ? {} : { input })
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  it('creates, shows, describes and deletes, from the oldest form of the API too', async () => {
    const legacy = await readFile(example, 'utf8')
    expect(await ok(['create', '-f', '-'], legacy)).toBe('replicationcontroller/frontend-controller created\n')
    const table = await eventually('two pods to be ready', async () => {
      const text = await ok(['get', 'rc'])
      return / 2 +2 +2 /.test(text) && text
    })
    expect(table).toMatch(/^NAME +DESIRED +CURRENT +READY +AGE\nfrontend-controller +2 +2 +2 +\d+s\n$/)
    const description = await ok(['describe', 'rc', 'frontend-controller'])
    expect(description).toMatch(/^Name: +frontend-controller$/m)
    expect(description).toMatch(/^Replicas: +2 current \/ 2 desired$/m)
    expect(description).toMatch(/^Pods Status: +2 Running \/ 0 Waiting \/ 0 Succeeded \/ 0 Failed$/m)
    expect(description).toMatch(/SuccessfulCreate +.*replication-controller +Created pod: frontend-controller-/)

    const names = (await ok(['get', 'pods', '-o', 'name', '-l', 'name=frontend'])).trim().split('\n')
    expect(names).toHaveLength(2)
    const [name = ''] = names
    expect(await eventually('its log', () => ok(['logs', name]))).toMatch(/^listening on 127\.\d+\.\d+\.\d+:8080\n/)

    const twice = await program.coracle(['create', '-f', example])
    expect([twice.code, twice.stderr]).toEqual([
      1,
      `Error from server (AlreadyExists): error when creating "${example}": replicationcontrollers "frontend-controller" already exists\n`,
    ])
    expect(await ok(['delete', '-f', example, '--grace-period', '1'])).toBe(
      'replicationcontroller "frontend-controller" deleted from default namespace\n',
    )
    await eventually(
      'its pods to go',
      async () => (await ok(['get', 'pods', '-l', 'name=frontend', '-o', 'name'])) === '',
    )
  })

  it('applies, and knows what is unchanged', async () => {
    const manifest = (data: object) => JSON.stringify({ ...configMap('applied'), data })
    expect(await ok(['apply', '-f', '-'], manifest({ a: '1', b: '1' }))).toBe('configmap/applied created\n')
    expect(await ok(['apply', '-f', '-'], manifest({ a: '1', b: '1' }))).toBe('configmap/applied unchanged\n')
    expect(await ok(['apply', '-f', '-'], manifest({ a: '2' }))).toBe('configmap/applied configured\n')
    expect(JSON.parse(await ok(['get', 'configmap', 'applied', '-o', 'json'])).data).toEqual({ a: '2' })
    // kubectl goes on from there, and the other way round.
    expect(await program.kubectlOk(['apply', '-f', '-'], { input: manifest({ a: '2' }) })).toBe(
      'configmap/applied unchanged\n',
    )
    expect(await program.kubectlOk(['apply', '-f', '-'], { input: manifest({ c: '3' }) })).toBe(
      'configmap/applied configured\n',
    )
    expect(await ok(['apply', '-f', '-'], manifest({ c: '4' }))).toBe('configmap/applied configured\n')
    expect(JSON.parse(await ok(['get', 'configmap', 'applied', '-o', 'json'])).data).toEqual({ c: '4' })
  })

  it('refuses a selector that misses its own pods, by the field', async () => {
    const legacy = JSON.parse(await readFile(example, 'utf8'))
    legacy.desiredState.replicaSelector = { name: 'backend' }
    const { code, stderr } = await program.coracle(['create', '-f', '-'], { input: JSON.stringify(legacy) })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/desiredState\.(replicaSelector|podTemplate\.labels)/)])
  })

  // The same words, the same columns: what a script relies on. Objects that do not change while both look at them.
  it.each([
    [['get', 'ns,nodes,sa', '-A', '-o', 'name']],
    [['get', 'ns', '-o', 'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}']],
    [['get', 'ns', '-o', 'jsonpath={.items[?(@.metadata.name=="default")].metadata.labels}']],
    [['get', 'ns', '-o=custom-columns=NAME:.metadata.name,LABELS:.metadata.labels', '--sort-by=.metadata.uid']],
    [['get', 'ns', '-o', 'yaml']],
    [['get', 'ns', 'default', '-o', 'json']],
    [['get', 'pods', '-n', 'nowhere']],
    [['get', 'pods', '-l', 'a==b==c']],
    [['get', 'ns', '--field-selector', 'foo=bar']],
    [['describe', 'ns', 'default']],
    [['describe', 'sa', 'default']],
    [['api-resources', '-o', 'wide']],
    [['api-versions']],
    [['delete', 'cm', 'nobody', '--ignore-not-found=true']],
    [['delete', 'ns', 'kube-public', '--dry-run=server', '-o', 'name']],
    [['logs', '-l', 'app=nobody']],
    [['logs', 'rc/nobody']],
  ])('answers as kubectl does: %s', async (args) => {
    const [ours, theirs] = await Promise.all([program.coracle(args), program.kubectl(args)])
    expect(ours).toEqual(theirs)
  })

  it('describes the quotas and limits of a namespace as kubectl does', async () => {
    await program.kubectlOk(['create', 'namespace', 'limited'])
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'pods', namespace: 'limited' } }
    const limits = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'sizes', namespace: 'limited' } }
    const objects = [
      { ...quota, spec: { hard: { pods: '5', 'requests.cpu': '2' }, scopes: ['NotTerminating', 'NotBestEffort'] } },
      { ...limits, spec: { limits: [{ type: 'Container', max: { cpu: '1' }, defaultRequest: { cpu: '100m' } }] } },
    ]
    await ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    await eventually('the quota to be counted', async () => {
      const used = await ok(['get', 'quota', 'pods', '-n', 'limited', '-o', 'jsonpath={.status.used}'])
      return used.includes('pods')
    })
    const args = ['describe', 'ns', 'limited']
    const [ours, theirs] = await Promise.all([program.coracle(args), program.kubectl(args)])
    expect(ours).toEqual(theirs)
    expect(ours.stdout).toContain('Resource Limits')
  })

  it('prints the logs of all containers, and of all pods that a selector finds', async () => {
    const container = (name: string) => ({
      name,
      image: 'example/x',
      command: ['sh', '-c', `echo from ${name}; sleep 1000`],
    })
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'talkers', labels: { app: 'talkers' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [container('a'), container('b')] },
    }
    await ok(['create', '-f', '-'], JSON.stringify(pod))
    const all = await eventually('both to have spoken', async () => {
      const text = await ok(['logs', 'talkers', '--all-containers'])
      return text.split('\n').length === 3 && text
    })
    expect(all).toBe('from a\nfrom b\n')
    expect(await ok(['logs', '-l', 'app=talkers', '--all-containers', '--prefix'])).toBe(
      '[pod/talkers/a] from a\n[pod/talkers/b] from b\n',
    )
    const { code, stderr } = await program.coracle([
      'logs',
      '-f',
      'talkers',
      '--all-containers',
      '--max-log-requests=1',
    ])
    expect([code, stderr]).toEqual([1, expect.stringContaining('use --max-log-requests to increase the limit')])
    await ok(['delete', 'pod', 'talkers'])
  })

  it.each([
    [['get', 'pod', 'nobody'], 'Error from server (NotFound): pods "nobody" not found\n'],
    [['get', 'widgets'], 'error: the server doesn\'t have a resource type "widgets"\n'],
    [['delete', 'pod', 'nobody'], 'Error from server (NotFound): pods "nobody" not found\n'],
    [['logs', 'nobody'], 'error: error from server (NotFound): pods "nobody" not found in namespace "default"\n'],
  ])('says what is wrong as kubectl does: %s', async (args, message) => {
    const { code, stdout, stderr } = await program.coracle(args)
    expect([code, stdout, stderr]).toEqual([1, '', message])
  })

  it.skipIf(!existsSync('/dev/full'))('says that a full disk takes nothing of what it prints', async () => {
    const line = ['-c', 'exec "$@" > /dev/full', 'sh', process.execPath, coracleFile, 'api-versions']
    expect(await run('sh', line, { env: { KUBECONFIG: program.kubeconfig } })).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: cannot write what there is to show: ENOSPC: .*\n$/),
    })
  })

  it.skipIf(process.env.CORACLE_TEST_PROGRAM === undefined)(
    'does not have the parser of answers compiled for speed, which takes more than what most commands ask for',
    async () => {
      const args = ['--trace-wasm-compilation-times', coracleFile, 'get', 'namespaces', '-o', 'name']
      const { code, stdout } = await run(process.execPath, args, { env: { KUBECONFIG: program.kubeconfig } })
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.not.stringContaining('using TurboFan') })
    },
  )

  it.skipIf(process.env.CORACLE_TEST_PROGRAM === undefined)(
    'loads no more of Node than a question takes: neither HTTP/2 nor what measures',
    async () => {
      const report = "process.on('exit', () => console.log(process.moduleLoadList.join(',')))"
      const args = ['--import', `data:text/javascript,${report}`, coracleFile, 'get', 'namespaces', '-o', 'name']
      const { code, stdout } = await run(process.execPath, args, { env: { KUBECONFIG: program.kubeconfig } })
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('NativeModule tls') })
      for (const name of ['http2', 'perf_hooks']) expect(stdout).not.toMatch(new RegExp(`NativeModule ${name}\\b`))
    },
  )

  it('speaks HTTP/2 with a server that wants to', async () => {
    const pki = (name: string) => readFile(join(program.dataDir, 'pki', name))
    const server = createSecureServer(
      { key: await pki('apiserver.key'), cert: await pki('apiserver.crt'), allowHTTP1: true },
      ({ httpVersion }, response) => response.end(`asked by ${httpVersion}`),
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const { port } = server.address() as AddressInfo
      const { code, stdout } = await program.coracle(['get', '--raw', '/', '--server', `https://127.0.0.1:${port}`])
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'asked by 2.0' })
    } finally {
      server.close()
    }
  })

  it('suggests the command that was meant', async () => {
    const { code, stderr } = await program.coracle(['creat', '-f', 'x'])
    expect([code, stderr]).toEqual([
      1,
      'error: unknown command "creat" for "coracle"\n\nDid you mean this?\n\tcreate\n',
    ])
  })

  it('says what to do where there is no cluster', async () => {
    const nowhere = { env: { KUBECONFIG: '', HOME: home }, cwd: home }
    const { code, stderr } = await runCoracle(['get', 'pods'], nowhere)
    expect([code, stderr]).toEqual([
      1,
      'error: no cluster is known here: start one with `npx coracle up`, or name a kubeconfig with --kubeconfig\n',
    ])
    // A port that nobody is given by chance.
    const nobody = '127.0.0.1:1'
    const kubeconfig = join(home, 'kubeconfig')
    const { host } = new URL(program.address)
    await writeFile(kubeconfig, (await readFile(program.kubeconfig, 'utf8')).replace(host, nobody))
    const refused = await runCoracle(['--kubeconfig', kubeconfig, 'get', 'pods'], nowhere)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(nobody)])
    expect(refused.stderr.trimEnd()).not.toContain('\n')
  })
})

describe('coracle up', () => {
  it('stops in order when its terminal goes', async () => {
    const program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
    expect(await program.end('SIGHUP')).toBe(0)
    expect(program.output.at(-1)).toMatch(/cluster +stopped after \d+ ms$/)
    await program[Symbol.asyncDispose]()
  })
})
