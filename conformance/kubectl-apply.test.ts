import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, controller, Kubectl } from './support/kubectl.ts'
import { ManifestFiles } from './support/manifest-files.ts'
import { Program } from './support/program.ts'

let program: Program
let files: ManifestFiles
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever'] })
  files = await ManifestFiles.create()
  kubectl = await Kubectl.inNewNamespace(program, 'applying')
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
  await files[Symbol.asyncDispose]()
})

/** Objects in a file. */
const file = (name: string, ...objects: readonly object[]) => files.write(name, ...objects)

const data = async (name: string) => (await kubectl.get('configmaps', name)).data

describe('kubectl apply --server-side', () => {
  it('creates, changes, and takes away what the file no longer has', async () => {
    const apply = async (values: Record<string, string>) =>
      kubectl.ok(['apply', '--server-side', '-f', await file('a.yaml', configMap('a', values))])
    expect(await apply({ x: '1', y: '1' })).toBe('configmap/a serverside-applied\n')
    expect(await apply({ x: '2' })).toBe('configmap/a serverside-applied\n')
    expect(await data('a')).toEqual({ x: '2' })
  })

  it('is refused where somebody else owns a field, until it is forced', async () => {
    const first = ['apply', '--server-side', '-f', await file('b.yaml', controller('b', 1))]
    await kubectl.ok(first)
    await kubectl.ok(['scale', 'rc', 'b', '--replicas=0'])
    const { code, stderr } = await kubectl.run(first)
    expect(code).toBe(1)
    expect(stderr).toContain('Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale"')
    expect(stderr).toContain('.spec.replicas')
    await kubectl.ok([...first, '--force-conflicts'])
    expect(await kubectl.get('replicationcontrollers', 'b')).toMatchObject({ spec: { replicas: 1 } })
  })

  it('takes over from client-side apply', async () => {
    await kubectl.ok(['apply', '-f', await file('c.yaml', configMap('c', { x: '1', y: '1' }))])
    const path = await file('c2.yaml', configMap('c', { x: '2' }))
    expect(await kubectl.ok(['apply', '--server-side', '-f', path])).toBe('configmap/c serverside-applied\n')
    expect(await data('c')).toEqual({ x: '2' })
  })

  it('shows who owns what only when asked', async () => {
    expect(await kubectl.ok(['get', 'cm', 'a', '-o', 'yaml'])).not.toContain('managedFields')
    expect(await kubectl.ok(['get', 'cm', 'a', '-o', 'yaml', '--show-managed-fields'])).toContain('operation: Apply')
  })
})
