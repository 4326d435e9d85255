import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps, deployments, pods } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'replace-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
})
afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const coracle = (line: string, object: object) =>
  runCommand(line.split(' '), { workingDirectory: directory, stdin: JSON.stringify(object) })

describe('replace --force', () => {
  /** On a node that is not there: nobody but a deadline ends it. */
  const pod = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName: 'nowhere', terminationGracePeriodSeconds: 30, containers: [{ name: 'web', image: 'x' }] },
  })

  it.each([
    ['the time it asks for', '', 30],
    ['the time that is given', ' --grace-period=7', 7],
    ['a second where none is given', ' --grace-period=0', 1],
  ])('leaves a pod %s', async (_, flag, seconds) => {
    const name = `pod-${seconds}`
    await coracle('create -f -', pod(name))
    const { code, stderr } = await coracle(`replace -f - --force --timeout=1ms${flag}`, pod(name))
    expect([code, stderr]).toEqual([1, `error: timed out waiting for the condition on pods/${name}\n`])
    const { metadata } = await cluster.client.get(pods, { namespace: 'default', name })
    expect(metadata.deletionGracePeriodSeconds).toBe(seconds)
  })
})

describe('apply --dry-run=client', () => {
  const configMap = (data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'drawn' }, data })

  it('tells what would change, and shows what would come of it', async () => {
    await coracle('apply -f -', configMap({ a: '1', b: '2' }))
    const tried = async (data: object, more = '') => {
      const { stdout, stderr } = await coracle(`apply -f - --dry-run=client${more}`, configMap(data))
      return stdout + stderr
    }
    expect(await tried({ a: '1', b: '2' })).toBe('configmap/drawn unchanged (dry run)\n')
    expect(await tried({ a: '2' })).toBe('configmap/drawn configured (dry run)\n')
    expect(await tried({ a: '2' }, ' -o jsonpath={.data}')).toBe('{"a":"2"}')
    expect((await cluster.client.get(configMaps, { namespace: 'default', name: 'drawn' })).data).toEqual({
      a: '1',
      b: '2',
    })
  })

  it('warns of an object that was not applied before', async () => {
    const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } }
    await coracle('create -f -', made)
    expect((await coracle('apply -f - --dry-run=client', made)).stderr).toContain('resource configmaps/made is missing')
  })
})

describe('apply --overwrite=false', () => {
  const web = (replicas: number, image: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  })

  it('sets what nobody else has changed, and refuses to set what somebody has, by its name', async () => {
    await coracle('apply -f -', web(1, 'web:1'))
    await coracle('scale deployment web --replicas=2', {})
    const { code, stderr } = await coracle('apply -f - --overwrite=false', web(3, 'web:2'))
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('changed by others since it was last applied: spec.replicas;'),
    ])
    const agreed = await coracle('apply -f - --overwrite=false', web(2, 'web:1'))
    expect(agreed).toEqual({ code: 0, stdout: 'deployment.apps/web configured\n', stderr: '' })
    expect((await cluster.client.get(deployments, { namespace: 'default', name: 'web' })).spec.replicas).toBe(2)
  })
})

describe('apply --force', () => {
  const web = (label: string) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'forced' },
    spec: {
      selector: { matchLabels: { app: 'one' } },
      template: { metadata: { labels: { app: label } }, spec: { containers: [{ name: 'web', image: 'x' }] } },
    },
  })

  it('puts back what was there where the server refuses what was to take its place', async () => {
    await coracle('apply -f -', web('one'))
    const { code, stderr } = await coracle('apply -f - --force', web('two'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('`selector` does not match template `labels`')])
    const { spec } = await cluster.client.get(deployments, { namespace: 'default', name: 'forced' })
    expect(spec.template.metadata?.labels).toEqual({ app: 'one' })
  })
})

describe('a directory in which a file cannot be read', () => {
  const decode = `unable to decode "mixed/b.yaml": Object 'Kind' is missing in '{"ind":"ConfigMap"}'`
  const validate =
    'error validating "mixed/b.yaml": error validating data: [apiVersion not set, kind not set]; if you choose to ignore these errors, turn validation off with --validate=false'
  beforeAll(async () => {
    await mkdir(join(directory, 'mixed'))
    const configMap = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
    await writeFile(join(directory, 'mixed', 'a.yaml'), configMap('mixed-a'))
    await writeFile(join(directory, 'mixed', 'b.yaml'), 'ind: ConfigMap\n')
    await writeFile(
      join(directory, 'mixed', 'c.yaml'),
      `${configMap('mixed-c')}---\na: [\n---\n${configMap('mixed-d')}`,
    )
  })

  it.each([
    ['create', 'configmap/mixed-a created\nconfigmap/mixed-c created\n', validate],
    ['apply', 'configmap/mixed-a configured\nconfigmap/mixed-c configured\n', validate],
    ['label a=b', 'configmap/mixed-a labeled\nconfigmap/mixed-c labeled\n', decode],
    ['get -o name', 'configmap/mixed-a\nconfigmap/mixed-c\n', decode],
    ['describe', /mixed-a(.|\n)*mixed-c/, decode],
    ['delete -o name', 'configmap/mixed-a\nconfigmap/mixed-c\n', decode],
  ])('%s goes on with the others, and tells of it', async (command, done, problem) => {
    const { code, stdout, stderr } = await coracle(`${command} -f mixed`, {})
    expect(code).toBe(1)
    expect(stdout).toEqual(typeof done === 'string' ? done : expect.stringMatching(done))
    expect(stderr).toContain(`${problem}\nerror parsing mixed/c.yaml: error converting YAML to JSON: yaml: line 1: `)
  })
})

describe('expose and autoscale', () => {
  it('take what files say, whether or not the server has it', async () => {
    const absent = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'absent' },
      spec: {
        selector: { matchLabels: { app: 'absent' } },
        template: { metadata: { labels: { app: 'absent' } }, spec: { containers: [{ name: 'web', image: 'x' }] } },
      },
    }
    expect(await coracle('expose -f - --port=80', absent)).toMatchObject({ stdout: 'service/absent exposed\n' })
    expect(await coracle('autoscale -f - --max=2', absent)).toMatchObject({
      stdout: 'horizontalpodautoscaler.autoscaling/absent autoscaled\n',
    })
  })
})

describe('create', () => {
  it('says that what has no name is unknown', async () => {
    const spec = { user: 'anna', resourceAttributes: { verb: 'get', resource: 'pods' } }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
    expect(await coracle('create -f -', review)).toMatchObject({
      stdout: 'subjectaccessreview.authorization.k8s.io/<unknown> created\n',
    })
  })
})

describe('create --edit', () => {
  it('creates nothing where it is only to be tried', async () => {
    const options = {
      workingDirectory: directory,
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'tried' }, data: { a: 'old' } }),
      variables: { KUBE_EDITOR: 'true' },
      runProgram: async (_: string, args: readonly string[]) => {
        const path = args.at(-1) ?? ''
        await writeFile(path, (await readFile(path, 'utf8')).replace('old', 'new'))
        return { code: 0, stdout: '', stderr: '' }
      },
    }
    expect(await runCommand(['create', '--edit', '-f', '-', '--dry-run=client'], options)).toEqual({
      code: 0,
      stdout: 'configmap/tried created (dry run)\n',
      stderr: '',
    })
    await expect(cluster.client.get(configMaps, { namespace: 'default', name: 'tried' })).rejects.toThrow('not found')
  })
})

describe('-k', () => {
  const withKustomization = async () => {
    await mkdir(join(directory, 'overlay'), { recursive: true })
    await writeFile(join(directory, 'overlay', 'kustomization.yaml'), 'resources: []\n')
  }

  it.each(['apply', 'delete', 'rollout restart', 'get'])('%s says what builds kustomizations', async (verb) => {
    await withKustomization()
    const { code, stderr } = await coracle(`${verb} -k overlay`, { workingDirectory: directory })
    expect(code).toBe(1)
    expect(stderr).toContain(`-k: kustomizations are not built here: kustomize build overlay | coracle ${verb} -f -\n`)
  })

  it.each([
    ['-k overlay -f x.yaml', 'error: only one of -f or -k can be specified\n'],
    ['-k overlay -R', "error: the -k flag can't be used with -f or -R\n"],
    [
      '-k nosuch',
      /^error: must build at directory: not a valid directory: evalsymlink failure on 'nosuch' : lstat \/.*\/nosuch: no such file or directory\n$/,
    ],
    [
      '-k .',
      /^error: unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '\/.*'\n$/,
    ],
  ])('apply %s is refused as by kubectl', async (flags, stderr) => {
    await withKustomization()
    const told = (await coracle(`apply ${flags}`, { workingDirectory: directory })).stderr
    if (typeof stderr === 'string') expect(told).toBe(stderr)
    else expect(told).toMatch(stderr)
  })

  it('is not there where it is empty', async () => {
    expect(await coracle('apply -k=', {})).toMatchObject({ stderr: 'error: must specify one of -f and -k\n' })
  })
})
