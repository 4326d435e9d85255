import { describe, expect, it } from 'vitest'
import { simulatedUsageAnnotation, simulatedUsageOf, validateSimulatedUsage } from './simulated-usage.ts'

const mebi = 1024 * 1024
const annotated = (text: string) => ({ annotations: { [simulatedUsageAnnotation]: text } })
const usage = (text: string, containers: readonly string[]) =>
  Object.fromEntries(
    [...simulatedUsageOf(annotated(text), containers)].map(([name, { cpu, memory }]) => [name, [cpu, memory / mebi]]),
  )

describe('the usage of a pod on a simulated node', () => {
  it.each([
    ['', { web: [0.001, 8], proxy: [0.001, 8] }],
    ['cpu=300m', { web: [0.15, 8], proxy: [0.15, 8] }],
    ['cpu=300m,memory=64Mi', { web: [0.15, 32], proxy: [0.15, 32] }],
    ['web:cpu=1', { web: [1, 8], proxy: [0.001, 8] }],
    ['proxy:cpu=10m, cpu=2', { web: [2, 8], proxy: [0.01, 8] }],
    ['cpu=0', { web: [0, 8], proxy: [0, 8] }],
    ['cpu=much', { web: [0.001, 8], proxy: [0.001, 8] }],
    ['cpu=-1,memory=16Mi', { web: [0.001, 8], proxy: [0.001, 8] }],
  ])('%j', (text, expected) => {
    expect(usage(text, ['web', 'proxy'])).toEqual(expected)
  })

  it('is that of a container that idles where nothing is said', () => {
    expect([...simulatedUsageOf({}, ['web'])]).toEqual([['web', { cpu: 0.001, memory: 8 * mebi }]])
  })
})

describe('the annotation', () => {
  const path = `metadata.annotations[${simulatedUsageAnnotation}]`
  it.each([
    ['cpu=250m,memory=64Mi', []],
    ['web:cpu=1, web:memory=1Gi', []],
    ['', []],
    ['cpu', ['Invalid value: "cpu": must be [CONTAINER:]RESOURCE=AMOUNT, such as cpu=250m or web:cpu=250m']],
    ['disk=1', ['Invalid value: "disk": must be one of cpu, memory']],
    ['cpu=-1', ['Invalid value: "-1": must be greater than or equal to 0']],
    ['db:cpu=1', ['Not found: "db"']],
    ['cpu=1,cpu=2', ['Duplicate value: "cpu"']],
    ['web:cpu=1,web:cpu=2', ['Duplicate value: "web:cpu"']],
    [Array.from({ length: 65 }, () => 'cpu=1').join(), ['Invalid value: 65: may not have more than 64 amounts']],
  ])('%s', (text, messages) => {
    expect(validateSimulatedUsage(annotated(text), ['web'])).toEqual(
      messages.map((message) => expect.objectContaining({ field: path, message })),
    )
  })

  it('may have any number of spaces, and is refused for them at once', () => {
    const text = `${' '.repeat(100_000)}a=b=`
    expect(validateSimulatedUsage(annotated(text), ['web'])).toHaveLength(1)
    expect(validateSimulatedUsage(annotated(`web:cpu=1${' '.repeat(100_000)}`), ['web'])).toEqual([])
  })

  it('says what is wrong with an amount in the words of quantities', () => {
    const [error] = validateSimulatedUsage(annotated('cpu=much'), ['web'])
    expect(error?.message).toMatch(/^Invalid value: "much": quantities must match the regular expression/)
  })
})
