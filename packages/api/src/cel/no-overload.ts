/** What cel-go says where a function does not take the values that it is given (interpreter/interpretable.go). */
import { CelError } from './errors.ts'
import { type CelValue, typeName } from './values.ts'

const duration = 'google.protobuf.Duration'
const timestamp = 'google.protobuf.Timestamp'
const numbers = ['int', 'uint', 'double']
const ordered = new Set([...numbers, 'bool', 'string', 'bytes', duration, timestamp])

/**
 * The types of which an operator takes some values on its left, whatever is on its right. Undefined for functions that say as much
 * of any value.
 */
const lefts: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  '_+_': new Set([...numbers, 'string', 'bytes', 'list', duration, timestamp]),
  '_-_': new Set([...numbers, duration, timestamp]),
  '_*_': new Set(numbers),
  '_/_': new Set(numbers),
  '_%_': new Set(['int', 'uint']),
  '_<_': ordered,
  '_<=_': ordered,
  '_>_': ordered,
  '_>=_': ordered,
  '-_': new Set(['int', 'double', 'bool']),
  '!_': undefined,
  size: new Set(['string', 'bytes', 'list', 'map']),
  '@in': undefined,
  contains: undefined,
  startsWith: undefined,
  endsWith: undefined,
  matches: undefined,
}

/** Values that are asked themselves where a function does not know them, and say no more than that they do not either. */
const receivers: ReadonlySet<string> = new Set(['string', duration, timestamp])

export function noOverload(name: string, values: readonly CelValue[]): CelError {
  const given = values.map(typeName)
  if (!Object.hasOwn(lefts, name)) return new CelError(`no such overload: ${name}(${given.join(', ')})`)
  const [left = ''] = given
  const isTold = lefts[name]?.has(left) === false && !receivers.has(left)
  return new CelError(isTold ? `no such overload: ${name}` : 'no such overload')
}

const goNames: Readonly<Record<string, string>> = {
  [duration]: 'types.Duration',
  [timestamp]: 'types.Timestamp',
  null_type: 'types.Null',
  type: '*types.Type',
  optional_type: '*types.Optional',
  bool: 'types.Bool',
  int: 'types.Int',
  uint: 'types.Uint',
  double: 'types.Double',
  string: 'types.String',
  bytes: 'types.Bytes',
}

/** What is said of a loop over what has no elements, with the name of its type in cel-go. */
export function notIterable(value: CelValue): CelError {
  const name = typeName(value)
  return new CelError(`got '${Object.hasOwn(goNames, name) ? goNames[name] : name}', expected iterable type`)
}
