import type { Metafile } from 'esbuild'
import { expect, it } from 'vitest'
import { partsOf, soon } from './parts.ts'

type Kind = 'import-statement' | 'dynamic-import'

/** What a bundle takes in: by file, what each imports at once (`files`) and by a call (`later`). */
function inputsOf(graph: Readonly<Record<string, readonly [files: string, later?: string]>>): Metafile['inputs'] {
  const importsOf = (names: string, kind: Kind) =>
    names
      .split(' ')
      .filter((name) => name !== '')
      .map((path) => ({ path, kind, original: path }))
  return Object.fromEntries(
    Object.entries(graph).map(([file, [files, later = '']]) => [
      file,
      { bytes: 1, imports: [...importsOf(files, 'import-statement'), ...importsOf(later, 'dynamic-import')] },
    ]),
  )
}

const main = 'packages/cli/src/main.ts'
const up = 'packages/cli/src/commands/up.ts'
const get = 'packages/cli/src/commands/get.ts'
const soonNeeded = Object.fromEntries(soon.map((file) => [file, ['']] as const))

it('each file is in the part of who needs it first', () => {
  const parts = partsOf(
    inputsOf({
      ...soonNeeded,
      [main]: ['host.ts', `${up} ${get} manual.ts`],
      [up]: ['server.ts', 'checks.ts'],
      [get]: ['table.ts server.ts expressions.ts', 'watch.ts'],
      'host.ts': [''],
      'manual.ts': [''],
      'server.ts': [''],
      'checks.ts': ['expressions.ts'],
      'expressions.ts': ['server.ts'],
      'table.ts': [''],
      'watch.ts': ['table.ts'],
    }),
  )
  const filesOf = (part: string) => [...parts].filter(([, each]) => each === part).map(([file]) => file)
  expect(filesOf('program.cjs')).toEqual([...soon, main, up, 'host.ts', 'server.ts'])
  expect(filesOf('later.cjs')).toEqual(['checks.ts', 'expressions.ts'])
  expect(filesOf('commands.cjs')).toEqual([get, 'manual.ts', 'table.ts', 'watch.ts'])
})

it('says which file is not there any more that a server needs soon', () => {
  expect(() => partsOf(inputsOf({ [main]: [''], [up]: [''] }))).toThrow(`the program has no ${soon.join(', ')}`)
})
