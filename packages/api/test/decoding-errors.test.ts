/** Decodes what upstream was sent, and compares what is wrong with it: `data/README.md` says where the answers come from. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { goTypes } from '../src/go-structs/go-types.ts'
import { builtinResources } from '../src/kinds/builtin-kinds.ts'
import { apiVersionOf } from '../src/resource.ts'
import { compile } from '../src/schema/compile.ts'
import type { GoTypes } from '../src/schema/decode-context.ts'

type Step = string | number
type Answer = readonly [apiVersion: string, kind: string, path: readonly Step[], value: unknown, said: string]

const answers: readonly Answer[] = JSON.parse(
  readFileSync(new URL('data/kubernetes-decoding-errors.json', import.meta.url), 'utf8'),
)
const byKind = Map.groupBy(answers, ([apiVersion, kind]) => `${apiVersion} ${kind}`)

function problemOf([apiVersion, kind, path, value]: Answer, goTypes?: GoTypes): string {
  const definition = builtinResources.find((each) => apiVersionOf(each) === apiVersion && each.kind === kind)
  if (definition === undefined) throw new Error(`there is no ${kind} in ${apiVersion}`)
  const body = path.reduceRight<unknown>(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    value,
  )
  try {
    compile(definition.schema).decode({ apiVersion, kind, ...(body as object) }, { goTypes })
    return 'taken'
  } catch (error) {
    return (error as Error).message.replace(/^.*?json: cannot unmarshal /, '')
  }
}

describe('a value of a wrong type', () => {
  it('is there for every kind', () => {
    expect(byKind.size).toBe(builtinResources.length)
    expect(answers.length).toBeGreaterThan(1500)
  })

  it.each([...byKind])('is told of as upstream does: %s', (_kind, of) => {
    expect(of.map((answer) => problemOf(answer, goTypes))).toEqual(of.map(([, , , , said]) => said))
  })

  it('is told of by its schema where nothing is known of the types', () => {
    const policy: Answer = ['v1', 'Pod', ['spec', 'restartPolicy'], 5, '']
    expect(problemOf(policy)).toBe('number into Go struct field PodSpec.spec.restartPolicy of type string')
    expect(problemOf(policy, goTypes)).toBe(
      'number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
    )
  })
})
