import { expect, it } from 'vitest'
import { describeFieldError } from './field-error.ts'
import { int32, object, optional, required, string } from './schema/builders.ts'
import { compile } from './schema/compile.ts'
import type { Infer } from './schema/schema.ts'

it('runs the example of the README', () => {
  interface Job extends Infer<typeof job> {}
  const job = object('example.test.v1.Job', 'Work to be done.', {
    name: required(string({ format: 'dns1123-label' }), 'What it is called.'),
    parallelism: optional(int32({ minimum: 0 }), 'How much of it is done at a time.', { default: 1 }),
  })
  const { decode, applyDefaults, validate } = compile(job)
  const value: Job = applyDefaults(decode({ name: 'Sweep' }).value)
  expect(value).toEqual({ name: 'Sweep', parallelism: 1 })
  expect(validate(value).map(describeFieldError)).toEqual([
    expect.stringMatching(/^name: Invalid value: "Sweep": a lowercase RFC 1123 label must consist of/),
  ])
})
