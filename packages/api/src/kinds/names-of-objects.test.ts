import { expect, it } from 'vitest'
import { checkName } from '../string-formats.ts'
import { builtinKinds } from './builtin-kinds.ts'

const namesOf = (plural: string) => builtinKinds.find((each) => each.plural === plural)?.nameFormat ?? 'path-segment'

it.each([
  ['services', '1st', true],
  ['services', 'a.b', false],
  ['statefulsets', 'a.b', false],
  ['deployments', 'a.b', true],
  ['poddisruptionbudgets', 'A_b', true],
  ['poddisruptionbudgets', 'a/b', false],
  ['roles', 'system:a', true],
])('a name of %s may be %s: %j', (plural, name, may) => {
  expect(checkName(namesOf(plural), name).length === 0).toBe(may)
})
