/** A record of an answer. Names are as `readName` gives them, ages are in seconds. */
export type DnsRecord = { readonly name: string; readonly ttl: number } & RecordData

export type RecordData =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'CNAME' | 'PTR' | 'NS'; readonly target: string }
  | {
      readonly type: 'SRV'
      readonly priority: number
      readonly weight: number
      readonly port: number
      readonly target: string
    }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'SOA'; readonly primary: string; readonly mailbox: string; readonly serial: number }
  /** What another server answered: `data` has no pointers in it. */
  | { readonly type: 'other'; readonly typeNumber: number; readonly data: Buffer }
