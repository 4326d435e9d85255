import { describe, expect, it } from 'vitest'
import { parseResourceArguments } from './resource-arguments.ts'

describe('parseResourceArguments', () => {
  it.each([
    [['pods'], { form: 'types', types: ['pods'] }],
    [['rc,pods'], { form: 'types', types: ['rc', 'pods'] }],
    [
      ['rc,pod', 'a'],
      {
        form: 'names',
        isPairs: true,
        names: [
          { type: 'rc', name: 'a' },
          { type: 'pod', name: 'a' },
        ],
      },
    ],
    [
      ['pod', 'a', 'b'],
      {
        form: 'names',
        isPairs: false,
        names: [
          { type: 'pod', name: 'a' },
          { type: 'pod', name: 'b' },
        ],
      },
    ],
    [
      ['rc/a', 'pod/b'],
      {
        form: 'names',
        isPairs: true,
        names: [
          { type: 'rc', name: 'a' },
          { type: 'pod', name: 'b' },
        ],
      },
    ],
  ])('reads %j', (args, expected) => {
    expect(parseResourceArguments(args, 'get')).toEqual(expected)
  })

  it.each([
    [[], 'You must specify the type of resource to get'],
    [['pod/a', 'b'], 'there is no need to specify a resource type as a separate argument'],
    [['pod/'], 'arguments in resource/name form must have a single resource and name'],
    [['a/b/c'], 'arguments in resource/name form may not have more than one slash'],
    [['a,', 'b'], 'arguments in resource/name form must have a single resource and name'],
    [['a,b', 'c/d'], 'arguments in resource/name form may not have more than one slash'],
  ])('refuses %j', (args, message) => {
    expect(() => parseResourceArguments(args, 'get')).toThrow(message)
  })
})
