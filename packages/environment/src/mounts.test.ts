import { expect, it } from 'vitest'
import { parseMounts } from './mounts.ts'

it('reads mount points as the kernel writes them', () => {
  const text = `22 1 0:21 / /proc rw - proc proc rw
30 22 0:30 / /a\\040b\\134c rw shared:1 - tmpfs tmpfs rw,size=4k
`
  expect(parseMounts(text).map(({ point }) => point)).toEqual(['/proc', '/a b\\c'])
})
