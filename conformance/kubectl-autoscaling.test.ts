import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controller, Kubectl, rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `autoscaling-${namespaces++}`)

beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

describe('kubectl top', () => {
  it('shows what pods use, as their annotation says while they run', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 2))
    await kubectl.waitForReplicas('web', 2)
    const table = rows(await kubectl.ok(['top', 'pod']))
    expect(table[0]).toEqual(['NAME', 'CPU(cores)', 'MEMORY(bytes)'])
    expect(table.slice(1).map(([, ...usage]) => usage)).toEqual([
      ['1m', '8Mi'],
      ['1m', '8Mi'],
    ])
    const name = table[1]?.[0] ?? ''
    await kubectl.ok(['annotate', 'pod', name, 'coracle.dev/simulated-usage=cpu=250m,memory=64Mi'])
    expect(rows(await kubectl.ok(['top', 'pod', name, '--no-headers']))).toEqual([[name, '250m', '64Mi']])
    expect(rows(await kubectl.ok(['top', 'pod', name, '--containers']))[1]?.slice(0, 1)).toEqual([name])
    expect(await kubectl.ok(['top', 'pod', '-l', 'no=label', '--no-headers'])).toBe('')
  })

  it('shows what nodes use, and how much of what they have that is', async () => {
    const kubectl = await Kubectl.in(program)
    const table = rows(await kubectl.ok(['top', 'node']))
    expect(table[0]?.slice(0, 3)).toEqual(['NAME', 'CPU(cores)', 'CPU(%)'])
    expect(table.slice(1).map(([name]) => name)).toEqual(['node-0', 'node-1'])
  })

  it('get shows the table of metrics-server', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 1))
    await kubectl.waitForReplicas('web', 1)
    const table = rows(await kubectl.ok(['get', 'pods.metrics.k8s.io']))
    expect(table[0]).toEqual(['NAME', 'CPU', 'MEMORY', 'WINDOW'])
    expect(table[1]?.slice(1)).toEqual(['1m', '8Mi', '15s'])
    const resources = rows(await kubectl.ok(['api-resources', '--api-group=metrics.k8s.io']))
    expect(resources.slice(1).map(([plural, version, , kind]) => [plural, version, kind])).toEqual([
      ['nodes', 'metrics.k8s.io/v1beta1', 'NodeMetrics'],
      ['pods', 'metrics.k8s.io/v1beta1', 'PodMetrics'],
    ])
    expect(await kubectl.ok(['explain', 'pods.window', '--api-version=metrics.k8s.io/v1beta1'])).toContain(
      'window <string>',
    )
  })

  it('refuses an annotation that says nothing', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.create('replicationcontrollers', controller('web', 1))
    await kubectl.waitForReplicas('web', 1)
    const [pod] = await kubectl.list('pods')
    const { stderr } = await kubectl.run([
      'annotate',
      'pod',
      pod?.metadata.name ?? '',
      'coracle.dev/simulated-usage=a lot',
    ])
    expect(stderr).toContain('must be [CONTAINER:]RESOURCE=AMOUNT, such as cpu=250m or web:cpu=250m')
  })
})
