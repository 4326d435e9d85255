import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'explain-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const explain = (...args: readonly string[]) => runCommand(['explain', ...args], { workingDirectory: directory })

it.each(['plaintext', 'plaintext-openapiv2'])('knows no fields but those of the type: %s', async (output) => {
  expect(await explain('pods.spec.constructor', `--output=${output}`)).toMatchObject({
    code: 1,
    stderr: 'error: field "constructor" does not exist\n',
  })
})

it('prints the JSON Schema of one type', async () => {
  const { code, stdout } = await explain('--json-schema', 'deploy')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    title: 'Deployment (apps/v1)',
    properties: { apiVersion: { const: 'apps/v1' }, kind: { const: 'Deployment' } },
  })
})

it('prints one JSON Schema of all types', async () => {
  const { oneOf } = JSON.parse((await explain('--json-schema')).stdout)
  const kinds = oneOf.map(({ properties }: Shape) => `${properties.apiVersion.const} ${properties.kind.const}`)
  expect(kinds).toEqual(expect.arrayContaining(['v1 PersistentVolumeClaim', 'apps/v1 StatefulSet', 'batch/v1 Job']))
  expect(new Set(kinds).size).toBe(kinds.length)
})

interface Shape {
  readonly properties: { readonly apiVersion: { readonly const: string }; readonly kind: { readonly const: string } }
}

it('writes a file for each type, by the names that kubeconform looks for', async () => {
  const { code, stdout } = await explain('--json-schema', '--output-dir', 'schemas')
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+ kinds written to schemas\n$/) })
  const names = await readdir(join(directory, 'schemas'))
  expect(names).toEqual(
    expect.arrayContaining(['all.json', 'pod-v1.json', 'networkpolicy-networking-v1.json', 'event-events-v1.json']),
  )
  const pod = JSON.parse(await readFile(join(directory, 'schemas', 'pod-v1.json'), 'utf8'))
  expect(pod.title).toBe('Pod (v1)')
})

it('has a short form for all fields below, as kubectl 1.36 does', async () => {
  const { stdout } = await explain('cronjobs', '-R')
  expect(stdout).toContain('restartPolicy')
  expect(stdout).toBe((await explain('cronjobs', '--recursive')).stdout)
})

it('reads names with dots as JSONPath has them', async () => {
  const plain = await explain('pod.spec.containers')
  expect(await explain("pod.spec['containers']")).toEqual(plain)
  expect(await explain('pod.spec.containers.')).toEqual(plain)
  expect(await explain('pod.spec.a\\.b')).toMatchObject({
    code: 1,
    stderr: 'error: field "a.b" does not exist\n',
  })
})

it('says what does not fit together', async () => {
  expect(await explain('pods', '--output-dir', 'schemas')).toMatchObject({
    code: 1,
    stderr: 'error: --output-dir is for --json-schema\n',
  })
})
