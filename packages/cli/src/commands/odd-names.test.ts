import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps } from '@coracle/api'
import { type Cluster, startCluster } from '@coracle/cluster'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCommand } from '../testing/recording-host.ts'

// Names of members that every object of JavaScript has.

let directory: string
let cluster: Cluster

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'odd-names-'))
  cluster = await startCluster({ dataDir: join(directory, '.coracle'), store: 'memory', nodes: 0 })
})

afterAll(async () => {
  await cluster.stop()
  await rm(directory, { recursive: true, force: true })
})

const coracle = (line: string) => runCommand(line.split(' '), { workingDirectory: directory })

it.each(['label', 'annotate'])('%s knows a key of any name', async (verb) => {
  const name = `of-${verb}`
  await cluster.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
  })
  const change = (pair: string) => coracle(`${verb} configmap ${name} ${pair}`)
  expect(await change('constructor=a')).toMatchObject({ code: 0, stderr: '' })
  const { metadata } = await cluster.client.get(configMaps, { name, namespace: 'default' })
  expect({ ...metadata.labels, ...metadata.annotations }).toEqual({ constructor: 'a' })
  expect((await change('constructor=b')).stderr).toContain("'constructor' already has a value (a)")
  const taken = await change('toString-')
  expect(taken).toMatchObject({ code: 0, stderr: '' })
  if (verb === 'label') expect(taken.stdout).toBe(`label "toString" not found.\nconfigmap/${name} not labeled\n`)
})

it('what is known of a user may have any name', async () => {
  const { stdout, stderr } = await coracle(
    'auth whoami --as=jane --as-user-extra=constructor=x --as-user-extra=constructor=y',
  )
  expect([stdout, stderr]).toEqual([expect.stringContaining('Extra: constructor   [x y]\n'), ''])
})
