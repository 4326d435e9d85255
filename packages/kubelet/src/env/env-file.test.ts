import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { parseEnvFile, readEnvFile } from './env-file.ts'

const needsLinux = { meta: { needs: 'Linux' } }

it.skipIf(process.platform !== 'linux')('is not read where a link is in its place by now', needsLinux, async () => {
  const [volume, elsewhere] = [temporaryDirectory(), temporaryDirectory()]
  for (const directory of [join(volume, 'own'), elsewhere]) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'env'), "B='2'")
  }
  symlinkSync(elsewhere, join(volume, 'link'))
  expect(await readEnvFile(join(volume, 'own/env'), 'B', volume)).toBe('2')
  await expect(readEnvFile(join(volume, 'link/env'), 'B', volume)).rejects.toThrow('link is a link')
})

describe('a file of variables', () => {
  it.each<[string, string, string | undefined]>([
    ['a value', "A='1'\nB='2'\n", '2'],
    ['the first of several', "B='1'\nB='2'\n", '1'],
    ['a value as it stands', 'B=\'$A "x" \\n # = \'', '$A "x" \\n # = '],
    ['a value over lines, with their blanks', "B='1\n  2\n\n#3'\n", '1\n  2\n\n#3'],
    ['a value after blanks, blank lines and comments', "\n  \t\n # C='3'\n\t B='2' # two\n", '2'],
    ['lines that end as on Windows', "A='1\r\n2'\r\nB='3'\r\n", '3'],
    ['nothing where it is not', "A='1'\n", undefined],
    ['nothing of an empty file', '', undefined],
    ['nothing where the value is empty', "B=''\n", undefined],
    ['nothing where the value begins with a blank', "A= 'x'\nB= '2'\n", undefined],
    ['a value before a line that is wrong', "B='2'\nwrong\n", '2'],
    ['a name with blanks in it', "A='1'\nB C='x'\nB='2'\n", '2'],
  ])('gives %s', (_, text, expected) => {
    expect(parseEnvFile(text, 'B')).toBe(expected)
  })

  it.each<[string, string]>([
    ["\nA\nB='2'", "line 2: there is no '='"],
    ["='1'\nB='2'", 'line 1: a variable has no name'],
    ["A ='1'\nB='2'", "line 1: there must be no blank before '='"],
    ["A=1\nB='2'", 'line 1: a value must stand in single quotes'],
    ['A="1"\nB=\'2\'', 'line 1: a value must stand in single quotes'],
    ["A='1'2\nB='2'", 'line 1: something stands after the closing quote'],
    ["A='1\n2'3\nB='2'", 'line 2: something stands after the closing quote'],
    ["\nB='2\n\n", 'line 2: a quote is not closed'],
  ])('is wrong: %j', (text, message) => expect(() => parseEnvFile(text, 'B')).toThrow(message))
})
