/** The example operator as a program of its own, which has nothing but a kubeconfig, and the README that shows it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startController } from './support/controller-process.ts'
import { blocksOf } from './support/documents.ts'
import { Kubectl, manifest } from './support/kubectl.ts'
import { Program, run } from './support/program.ts'

const root = join(import.meta.dirname, '..')
const operator = join(root, 'examples', 'operator')

const site = {
  apiVersion: 'example.com/v1',
  kind: 'Website',
  metadata: { name: 'shop' },
  spec: { host: 'shop.example.com', image: 'web:1' },
}

let program: Program
let kubectl: Kubectl

beforeAll(async () => {
  program = await Program.start({ args: ['--runtime', 'simulated'] })
  kubectl = await Kubectl.in(program)
})

afterAll(() => program[Symbol.asyncDispose]())

it('installs its kind, serves sites until they go, tells its metrics, and ends in good order', async () => {
  await using running = startController(join(operator, 'src', 'main.ts'), { KUBECONFIG: program.kubeconfig, PORT: '0' })
  const { url } = await running.until(({ message }) => message === 'started')
  await kubectl.ok(['apply', '-f', '-'], { input: manifest(site) })
  await kubectl.ok(['wait', '--for=condition=Ready', 'site/shop', '--timeout=60s'])
  expect(await kubectl.ok(['get', 'site'])).toMatch(/^NAME +READY\nshop +True\n$/)
  expect((await kubectl.get('configmaps', 'hosts')).data).toEqual({ 'shop.example.com': 'shop' })
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toMatch(/^controller_runtime_reconcile_total\{controller="website",result="success"\} [1-9]/m)
  expect(metrics).toMatch(/^rest_client_requests_total\{code="201",host=".*",method="POST"\} [1-9]/m)
  expect(metrics).toContain('leader_election_master_status{name="website-operator"} 1\n')
  expect((await fetch(`${url}/readyz`)).status).toBe(200)

  const change = { ...site, spec: { ...site.spec, host: 'elsewhere.example.com' } }
  const refused = await kubectl.run(['apply', '-f', '-'], { input: manifest(change) })
  expect(refused.stderr).toContain('spec.host: Invalid value: "elsewhere.example.com": field is immutable')

  await kubectl.ok(['delete', 'site', 'shop'])
  expect((await kubectl.get('configmaps', 'hosts')).data ?? {}).toEqual({})
  await kubectl.ok(['wait', '--for=delete', 'deployment/shop', '--timeout=60s'])
  expect(await running.terminate()).toBe(0)
})

it('prints its kind for kubectl, which finds it as the operator has left it', async () => {
  const crd = join(root, 'packages', 'controller-runtime', 'bin', 'crd.ts')
  const { code, stdout } = await run(process.execPath, [crd, 'src/website.ts'], { cwd: operator })
  expect(code).toBe(0)
  await kubectl.ok(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: stdout })
  expect(await kubectl.ok(['diff', '-f', '-'], { input: stdout })).toBe('')
  const none = await run(process.execPath, [crd, 'src/main.ts.none'], { cwd: operator })
  expect(none.code).toBe(1)
})

it.each([
  ['packages/controller-runtime/README.md', 'website.ts'],
  ['docs/guide/controller-runtime.md', 'main.ts'],
])('is what %s shows first: %s', (document, name) => {
  const shown = blocksOf(root, document).find(({ language }) => language === 'ts')
  expect(shown?.text).toBe(readFileSync(join(operator, 'src', name), 'utf8'))
})

it('is shown on one screen', () => {
  const lines = readFileSync(join(root, 'packages/controller-runtime/README.md'), 'utf8').split('\n')
  expect(lines.length).toBeLessThanOrEqual(66)
})
