import { expect, it } from 'vitest'
import { parseMountPoints } from './mounts.ts'

it('reads mount points as the kernel writes them', () => {
  const text = `22 1 0:21 / /proc rw - proc proc rw
30 22 0:30 / /a\\040b\\134c rw shared:1 - tmpfs tmpfs rw,size=4k
`
  expect(parseMountPoints(text)).toEqual(['/proc', '/a b\\c'])
})
