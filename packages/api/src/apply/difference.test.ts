import { describe, expect, it } from 'vitest'
import { deepFreeze } from '../freeze.ts'
import { customResourceDefinitionSchema } from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import { podSchema } from '../kinds/core/pod/pod-schema.ts'
import { differenceSteps } from './difference.ts'
import { emptyObjectOf } from './empty-object.ts'

const specOf = (image: string) => ({ containers: [{ name: 'main', image, ports: [{ containerPort: 80 }] }] })
const added = (spec: object) => differenceSteps(podSchema, {}, { spec })
/** As the server compares a new pod. */
const created = (spec: object) => differenceSteps(podSchema, emptyObjectOf(podSchema), { spec })

it('lead to the elements of a list that is written although it is empty, and not to the list', () => {
  const steps = differenceSteps(
    customResourceDefinitionSchema,
    { status: {} },
    { status: { conditions: [{ type: 'Established', status: 'True' }] } },
  )
  expect(steps.filter((step) => step.includes('f:conditions'))).toEqual(['>f:conditions'])
  expect(steps).toContain('+k:{"type":"Established"}')
})

describe('the steps to a new object', () => {
  it.each([
    ['nothing', added],
    ['an empty struct', created],
  ])(
    'are taken through a desired state once for all objects that come with the very same one, beside %s',
    (_, stepsTo) => {
      let reads = 0
      const spec = new Proxy(deepFreeze(specOf('example/main')), {
        get(target, name) {
          reads += 1
          return Reflect.get(target, name)
        },
      })
      const first = stepsTo(spec)
      expect(first).toContain('+k:{"name":"main"}')
      const readsOfFirst = reads
      expect(stepsTo(spec)).toEqual(first)
      expect(reads).toBe(readsOfFirst)
    },
  )

  it('are those of its own desired state where that is another, or may have changed', () => {
    const own = specOf('example/main')
    const before = added(own)
    Object.assign(own, { hostname: 'web' })
    expect(added(own)).toEqual([...before.slice(0, -1), '+f:hostname', ')'])
    expect(added(deepFreeze(own))).toEqual(added(own))
    expect(added(deepFreeze({ hostname: 'web' }))).toEqual(['+f:spec', '(', '+f:hostname', ')'])
  })

  it('differ between a struct that is there, empty, and one that is not', () => {
    const spec = deepFreeze(specOf('example/main'))
    expect(created(spec)).not.toEqual(added(spec))
    expect(added(spec)).toEqual(added(deepFreeze(specOf('example/main'))))
    expect(created(spec)).toEqual(created(deepFreeze(specOf('example/main'))))
  })

  it('say under which name it is there', () => {
    const { spec } = podSchema.fields
    const schema = { ...podSchema, fields: { one: spec, other: spec } } as typeof podSchema
    const value = deepFreeze({ hostname: 'web' })
    expect(differenceSteps(schema, {}, { one: value })).toEqual(['+f:one', '(', '+f:hostname', ')'])
    expect(differenceSteps(schema, {}, { other: value })).toEqual(['+f:other', '(', '+f:hostname', ')'])
  })
})
