import { describe, expect, it } from 'vitest'
import { describeFieldError } from '../../../../field-error.ts'
import { FieldPath } from '../../../../field-path.ts'
import { goQuoted } from '../../../../go-text.ts'
import { validateWindowsOptions } from './windows.ts'

const problems = (options: Parameters<typeof validateWindowsOptions>[0]): readonly string[] =>
  validateWindowsOptions(options, FieldPath.of('o')).map(describeFieldError)

describe('settings for Windows nodes', () => {
  it.each(['ContainerUser', 'NT AUTHORITY\\NETWORK SERVICE', 'corp.example.com\\jane.doe'])(
    'let %j be the user',
    (name) => {
      expect(problems({ runAsUserName: name })).toEqual([])
    },
  )

  it.each([
    ['', ['cannot be an empty string']],
    ['a\u0001', ['cannot contain control characters']],
    ['a\\b\\c', ['cannot contain more than one backslash']],
    ['.a:b\\user', ["'s Domain doesn't match the NetBios nor the DNS format"]],
    [
      `${'a'.repeat(256)}\\user`,
      ["'s Domain length must be under 256 characters", "'s Domain doesn't match the NetBios nor the DNS format"],
    ],
    ['a\\', ["'s User cannot be empty"]],
    ['u'.repeat(105), ["'s User length must not be longer than 104 characters"]],
    ['. .', ["'s User cannot contain only periods or spaces"]],
    ['a@b', ['\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]']],
  ])('say of the user %j', (name, expected) => {
    const lines = expected.map((each) => {
      const rule = each.startsWith("'") ? `runAsUserName${each}` : `runAsUserName ${each}`
      return `o.runAsUserName: Invalid value: ${goQuoted(name)}: ${rule}`
    })
    expect(problems({ runAsUserName: name })).toEqual(lines)
  })

  it('bound a credential spec', () => {
    expect(problems({ gmsaCredentialSpec: '' })).toEqual([
      'o.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty string',
    ])
    expect(problems({ gmsaCredentialSpec: 'x'.repeat(64 * 1024) })).toEqual([])
    expect(problems({ gmsaCredentialSpec: 'x'.repeat(64 * 1024 + 1) })[0]).toContain(
      'gmsaCredentialSpec size must be under 64 KiB',
    )
  })
})
