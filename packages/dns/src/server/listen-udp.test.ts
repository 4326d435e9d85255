import { createSocket } from 'node:dgram'
import { describe, expect, it } from 'vitest'
import { answerDatagrams } from './listen-udp.ts'

describe('a datagram', () => {
  it('that says that it comes from no port is passed over', () => {
    const socket = createSocket('udp4')
    let asked = 0
    answerDatagrams(socket, () => {
      asked += 1
      return Buffer.from('answer')
    })
    socket.emit('message', Buffer.from('question'), { address: '127.0.0.1', family: 'IPv4', port: 0, size: 8 })
    expect(asked).toBe(0)
    socket.close()
  })
})
