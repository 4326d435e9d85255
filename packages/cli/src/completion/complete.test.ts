import { spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps, namespaces, pods } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { type Environment, realEnvironment } from '@coracle/environment'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'completion-'))
  cluster = await startCluster({
    dataDir: join(directory, '.coracle'),
    store: 'memory',
    nodes: 2,
    runtime: 'simulated',
  })
  const staging = join(directory, '.coracle', 'clusters', 'staging')
  await mkdir(staging, { recursive: true })
  for (const place of [staging, join(directory, '.coracle')]) await writeFile(join(place, 'coracle.lock'), '')
  const named = (name: string, namespace = 'default') => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
  })
  await cluster.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (const name of ['alpha', 'beta']) await cluster.client.create(configMaps, named(name) as never)
  await cluster.client.create(configMaps, named('till', 'shop') as never)
  const published = { namespace: 'default', name: 'kube-root-ca.crt' }
  await vi.waitFor(() => cluster.client.get(configMaps, published), { timeout: 60_000 })
  await cluster.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      containers: [
        { name: 'main', image: 'a' },
        { name: 'side', image: 'b' },
      ],
    },
  } as never)
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const real = realEnvironment()
/** For somebody whose patience has no end, however slow this machine is. */
const patient: Environment = { ...real, clock: { ...real.clock, setTimer: () => ({ cancel() {} }) } }

/** The answer to a command line that is being typed: the candidates' words, and the number at the end. */
async function complete(
  line: string,
  environment = patient,
): Promise<{ readonly words: readonly string[]; readonly directive: string }> {
  const { code, stdout, stderr } = await runCommand(['__complete', ...line.split(' ')], {
    workingDirectory: directory,
    environment,
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  return { words: lines.slice(0, -1).map((each) => each.split('\t', 1)[0] ?? ''), directive: lines.at(-1) ?? '' }
}

describe('a word is completed', () => {
  it.each<[string, readonly string[]]>([
    ['rollo', ['rollout']],
    ['rollout un', ['undo']],
    ['get configm', ['configmaps']],
    ['get cm ', ['alpha', 'beta', 'kube-root-ca.crt']],
    ['get cm alpha b', ['beta']],
    ['get -n shop cm t', ['till']],
    ['get cm --namespace=shop t', ['till']],
    ['-o name get cm al', ['alpha']],
    ['--namespace shop -o name get cm t', ['till']],
    ['describe cm/al', ['cm/alpha']],
    ['get pods,configm', ['pods,configmaps']],
    ['get pods -n sh', ['shop']],
    ['get pods --namespace=sh', ['--namespace=shop']],
    ['get pods -o js', ['json', 'jsonpath=', 'jsonpath-as-json=', 'jsonpath-file=']],
    ['get pods --output=ya', ['--output=yaml']],
    ['get pods --show-l', ['--show-labels']],
    ['get pods --kubec', ['--kubeconfig=']],
    ['logs w', ['web']],
    ['logs dep', ['deployments/']],
    ['exec s', ['services/', 'statefulsets/']],
    ['debug s', []],
    ['cp w', ['web:']],
    ['cp web:/a w', ['web:']],
    ['cp web:', []],
    ['rollout status d', ['daemonsets', 'deployments']],
    ['rollout pause ', ['deployments']],
    ['scale r', ['replicationcontrollers', 'replicasets']],
    ['expose p', ['pods']],
    ['taint ', ['nodes']],
    ['logs web ', ['main', 'side']],
    ['logs web -c s', ['side']],
    ['cordon node', ['node-0', 'node-1']],
    ['drain node-0 ', ['node-1']],
    ['rollout status deployments ', []],
    ['explain deploy', ['deployments']],
    ['config use-context ', ['coracle']],
    ['get pods --context=cor', ['--context=coracle']],
    ['delete --cascade=for', []],
    ['top po', ['pod']],
    ['taint nodes node-', ['node-0', 'node-1']],
    ['up --runtime pro', ['process']],
    ['completion z', ['zsh']],
    ['use ', ['coracle', 'staging']],
    ['down --name ', ['coracle', 'staging']],
    ['status --name=st', ['--name=staging']],
    ['snapshot save --name st', ['staging']],
    ['expose deployment web --name st', []],
    ['get cm -- al', ['alpha']],
    ['nosuchcommand x', []],
  ])('%s', async (line, words) => {
    expect((await complete(line)).words).toEqual(words)
  })

  it('with what it means', async () => {
    const { stdout } = await runCommand(['__complete', 'cord'], { workingDirectory: directory })
    expect(stdout).toMatch(/^cordon\t\S.*\n:4\n$/)
  })

  it.each([
    ['get pods --kubec', ':6'],
    ['logs dep', ':6'],
    ['logs web ', ':4'],
    ['cp w', ':2'],
  ])('%s, and goes on or not: %s', async (line, directive) => {
    expect((await complete(line)).directive).toBe(directive)
  })

  it('by files, where files are meant', async () => {
    expect(await complete('cp ./w')).toEqual({ words: [], directive: ':0' })
    expect(await complete('apply -f ')).toEqual({ words: [], directive: ':0' })
    expect(await complete('get pods --kubeconfig=')).toEqual({ words: [], directive: ':0' })
    expect((await complete('get nosuchtype ')).directive).toBe(':4')
  })
})

it('nobody waits long for a server that does not answer', async () => {
  const silent = createServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
  expect(await complete(`get -s ${url} pods `, real)).toEqual({ words: [], directive: ':4' })
  silent.close()
})

describe('the script for bash', () => {
  /** What bash offers for a line, asked of a program that answers so. */
  async function offered(line: string, answer: string): Promise<readonly string[]> {
    const program = join(directory, 'coracle')
    await writeFile(program, `#!/bin/sh\nprintf '%s|' "$@" > ${directory}/asked\nprintf -- '${answer}'\n`)
    await chmod(program, 0o755)
    const { stdout: script } = await runCommand(['completion', 'bash'])
    const test = `${script}
COMP_LINE='${line}'; COMP_POINT=${'$'}{#COMP_LINE}
_coracle
printf '%s\n' "${'$'}{COMPREPLY[@]}"
`
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', test], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${directory}:${process.env.PATH}` },
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return stdout.split('\n').filter((each) => each !== '')
  }

  const asked = () => readFile(join(directory, 'asked'), 'utf8')

  it('offers what the program answers', async () => {
    expect(await offered('coracle get po', 'pods\\tpo\\npodtemplates\\n:4\\n')).toEqual(['pods', 'podtemplates'])
    expect(await asked()).toBe('__complete|get|po|')
  })

  it('asks about a word that has not begun', async () => {
    expect(await offered('coracle get pods ', 'web\\n:4\\n')).toEqual(['web'])
    expect(await asked()).toBe('__complete|get|pods||')
  })

  it('offers of a word that bash breaks only what follows', async () => {
    expect(await offered('coracle get --output=js', '--output=json\\n:4\\n')).toEqual(['json'])
    expect(await offered('coracle get clusterroles system:n', 'system:node\\n:4\\n')).toEqual(['node'])
  })

  it('offers nothing where nothing is', async () => {
    expect(await offered('coracle x', ':4\\n')).toEqual([])
  })
})

describe('the scripts', () => {
  it.each(['bash', 'zsh', 'fish'])('can be read by %s', async (shell) => {
    const { code, stdout } = await runCommand(['completion', shell])
    expect(code).toBe(0)
    expect(stdout).toContain('__complete')
    const script = join(directory, `script.${shell}`)
    await writeFile(script, stdout)
    const { status, stderr, error } = spawnSync(shell, ['-n', script], { encoding: 'utf8' })
    // Not every machine has every shell.
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  })

  it('are of three shells', async () => {
    expect(await runCommand(['completion', 'tcsh'])).toMatchObject({
      code: 1,
      stderr: `error: Unsupported shell type "tcsh".\nSee 'coracle completion -h' for help and examples\n`,
    })
  })
})
