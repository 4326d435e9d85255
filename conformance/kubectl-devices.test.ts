import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--nodes', '1', '--runtime', 'simulated'] })
  kubectl = await Kubectl.inNewNamespace(program, 'devices')
  const example = await readFile(join(import.meta.dirname, '../examples/devices.yaml'), 'utf8')
  await kubectl.ok(['apply', '-f', '-'], { input: example })
})
afterAll(() => program[Symbol.asyncDispose]())

describe('kubectl', () => {
  it('waits for the pods of a Deployment that take a device each', async () => {
    expect(await kubectl.ok(['rollout', 'status', 'deployment/training', '--timeout=60s'])).toMatch(
      /successfully rolled out/,
    )
    const devices = await kubectl.ok([
      'get',
      'resourceclaims',
      '-o',
      'jsonpath={range .items[*]}{.status.allocation.devices.results[0].device}{"\\n"}{end}',
    ])
    expect(devices.trim().split('\n').toSorted()).toEqual(['gpu-0', 'gpu-1'])
  })

  it('lists slices, classes, templates and claims', async () => {
    expect(rows(await kubectl.ok(['get', 'resourceslices']))).toMatchObject([
      ['NAME', 'NODE', 'DRIVER', 'POOL', 'AGE'],
      ['node-0-gpus', 'node-0', 'gpu.example.com', 'node-0', expect.any(String)],
    ])
    expect(rows(await kubectl.ok(['get', 'deviceclasses']))).toMatchObject([
      ['NAME', 'AGE'],
      ['gpu', expect.any(String)],
    ])
    expect(rows(await kubectl.ok(['get', 'resourceclaimtemplates']))).toMatchObject([
      ['NAME', 'AGE'],
      [expect.any(String), expect.any(String)],
    ])
    expect(rows(await kubectl.ok(['get', 'resourceclaims']))).toMatchObject([
      ['NAME', 'STATE', 'AGE'],
      [expect.stringMatching(/^training-/), 'allocated,reserved', expect.any(String)],
      [expect.stringMatching(/^training-/), 'allocated,reserved', expect.any(String)],
    ])
  })

  /** Not of templates: their requests are one value, which the defaults of the server make another. */
  it('leaves slices and classes as they are when they are applied again', async () => {
    const example = await readFile(join(import.meta.dirname, '../examples/devices.yaml'), 'utf8')
    const lines = (await kubectl.ok(['apply', '-f', '-'], { input: example })).trim().split('\n')
    expect(lines).toContain('deviceclass.resource.k8s.io/gpu unchanged')
    expect(lines).toContain('resourceslice.resource.k8s.io/node-0-gpus unchanged')
  })

  it('explains the fields', async () => {
    expect(await kubectl.ok(['explain', 'resourceclaim.spec.devices.requests.exactly'])).toMatch(
      /deviceClassName\s+<string> -required-/,
    )
  })

  it('shows of a pod too many that no device is left for it', async () => {
    await kubectl.ok(['scale', 'deployment/training', '--replicas=3'])
    await expect
      .poll(() =>
        kubectl.ok(['get', 'events', '--field-selector=reason=FailedScheduling', '-o', 'jsonpath={.items[*].message}']),
      )
      .toMatch(/0\/1 nodes are available: 1 cannot allocate all claims/)
    await kubectl.ok(['scale', 'deployment/training', '--replicas=0'])
    await expect.poll(() => kubectl.ok(['get', 'resourceclaims', '-o', 'name']), { timeout: 60_000 }).toBe('')
  })
})
