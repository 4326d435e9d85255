import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { referencePages } from './pages.ts'

const directory = join(import.meta.dirname, '../../docs/reference')

it('says in docs/reference what the commands are (npm run reference writes it anew)', async () => {
  const written = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')] as const)
  expect(new Map(written.sort())).toEqual(new Map([...(await referencePages())].sort()))
})
