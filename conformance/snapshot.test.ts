import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type CommandHome, commandHome } from './support/command-home.ts'
import { Program } from './support/program.ts'

// Objects of one server on another: from a file, and by an import.

let directory: string
let source: Program
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'snapshot-'))
  source = await Program.start({
    args: ['--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
    alone: true,
  })
})
afterEach(async () => {
  await coracle('down', '--all')
  await source[Symbol.asyncDispose]()
  await rm(directory, { recursive: true, force: true })
})

const coracle: CommandHome['coracle'] = (...args) => commandHome(directory).coracle(...args)
const ok: CommandHome['ok'] = (...args) => commandHome(directory).ok(...args)

/** What stays of every object: its kind, name, uid, time and owners of fields. */
const identities = [
  'get',
  'deployments,replicasets,pods,configmaps,secrets,services,nodes,namespaces,serviceaccounts',
  '-A',
  '--show-managed-fields',
  '-o',
  'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.creationTimestamp} {.metadata.managedFields[*].manager}{"\\n"}{end}',
]

/** A line for each object, in an order that has nothing to do with when who wrote: owners stand in the order of their last writes. */
const linesOf = (printed: string): readonly string[] =>
  printed
    .split('\n')
    .map((line) => {
      const [name = '', uid = '', time = '', ...managers] = line.split(' ')
      return [name, uid, time, ...managers.sort()].join(' ')
    })
    .sort()

it('have the same uids, times and owners of fields, and go on', async () => {
  const from = ['--kubeconfig', source.kubeconfig]
  await ok(...from, 'create', 'deployment', 'web', '--image', 'example/web', '--replicas', '3')
  await ok(...from, 'create', 'secret', 'generic', 'password', '--from-literal', 'a=b')
  await ok(...from, 'rollout', 'status', 'deployment/web')
  await ok(...from, 'snapshot', 'save', 'all.snapshot')
  const saved = linesOf(await ok(...from, ...identities))
  expect(saved.filter((line) => line.startsWith('Pod/web-'))).toHaveLength(3)

  await ok('snapshot', 'restore', 'all.snapshot', '--name', 'restored')
  await ok(
    'up',
    '-d',
    '--name',
    'restored',
    '--runtime',
    'simulated',
    '--run-time',
    'forever',
    '--nodes',
    '2',
    '--port',
    '0',
  )
  expect(linesOf(await ok('--context', 'restored', ...identities))).toEqual(saved)

  await ok(...from, 'import', '--name', 'copy')
  await ok('up', '-d', '--name', 'copy', '--port', '0')
  const uids = (lines: readonly string[]) => lines.map((line) => line.split(' ').slice(0, 3).join(' '))
  expect(uids(linesOf(await ok('--context', 'copy', ...identities)))).toEqual(uids(saved))
  await ok('--context', 'copy', 'scale', 'deployment/web', '--replicas', '5')
  await ok('--context', 'copy', 'rollout', 'status', 'deployment/web')
  expect(await ok(...from, 'get', 'deployment', 'web', '-o', 'jsonpath={.status.replicas}')).toBe('3')
})
