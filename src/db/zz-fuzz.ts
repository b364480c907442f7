import { Kysely, PostgresDialect, CamelCasePlugin, sql } from 'kysely'
import pg from 'pg'
import { TenantGuardPlugin, TenantGuardError } from './tenant-guard.ts'
const A = '00000000-0000-0000-0000-00000000000a', B = '00000000-0000-0000-0000-00000000000b'
const admin = new pg.Client('postgres://postgres@127.0.0.1:5432/test'); await admin.connect()
for (const s of ['fz1', 'fz2']) {
  await admin.query(`drop schema if exists ${s} cascade; create schema ${s}; set search_path=${s};
  create table user_account(id uuid, x int); insert into user_account values ('${A}',1),('${B}',2);
  create table issue(workspace_id uuid, id int, x int); create table team(workspace_id uuid, id int, x int); create table label(workspace_id uuid, id int, x int);`)
  for (const t of ['issue', 'team', 'label']) for (let i = 0; i < 3; i++) {
    await admin.query(`insert into ${t} values ('${A}', ${i}, ${(i * 7) % 3})`)
    if (s === 'fz2') await admin.query(`insert into ${t} values ('${B}', ${i}, ${(i * 5) % 3})`)
  }
}
await admin.end()
const mk = (s: string) => { const pool = new pg.Pool({ connectionString: 'postgres://postgres@127.0.0.1:5432/test', options: `-c search_path=${s} -c statement_timeout=3000`, max: 1 }); return new Kysely<any>({ dialect: new PostgresDialect({ pool }), plugins: [new TenantGuardPlugin(), new CamelCasePlugin()] }) }
const d1 = mk('fz1'), d2 = mk('fz2')
let seed = Number(process.argv[2] ?? 1)
const rnd = () => { seed = (seed + 0x6d2b79f5) | 0; let t = Math.imul(seed ^ (seed >>> 15), 1 | seed); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296 }
const pick = <T>(a: T[]): T => a[Math.floor(rnd() * a.length)]!
const chance = (p: number) => rnd() < p
let n = 0
type Ctx = { outer: string[], ctes: string[], depth: number }
function cond(eb: any, own: string[], all: string[], ctx: Ctx, level = 0): any {
  const a = pick(own), b = pick(all)
  const r = rnd()
  const col = (al: string, c: string) => eb.ref(`${al}.${c}`)
  if (r < 0.3) return chance(0.5) ? eb(col(a, 'workspaceId'), '=', A) : eb(eb.val(A), '=', col(a, 'workspaceId'))
  if (r < 0.62) return eb(col(a, 'workspaceId'), '=', col(b, 'workspaceId'))
  if (r < 0.68) return eb(col(a, 'id'), '=', col(b, 'id'))
  if (r < 0.72) return eb(col(a, 'x'), '<', col(b, 'x'))
  if (level > 2) return eb(col(a, 'id'), '>', 0)
  if (r < 0.80) return eb.and([cond(eb, own, all, ctx, level + 1), cond(eb, own, all, ctx, level + 1)])
  if (r < 0.85) return eb.or([cond(eb, own, all, ctx, level + 1), cond(eb, own, all, ctx, level + 1)])
  if (r < 0.88) return eb.not(cond(eb, own, all, ctx, level + 1))
  if (ctx.depth > 1) return eb(col(a, 'id'), '>', 0)
  const sub = select(eb, { outer: all, ctes: ctx.ctes, depth: ctx.depth + 1 })
  if (r < 0.93) return eb.exists(sub)
  if (r < 0.96) return eb.not(eb.exists(sub))
  return eb(col(a, 'workspaceId'), '=', eb.selectFrom(select(eb, { outer: all, ctes: ctx.ctes, depth: ctx.depth + 1 }).as('zz' + n)).select(sql.ref('zz' + n++ + '.workspaceId').as('workspaceId')).limit(1))
}
function source(eb: any, ctx: Ctx, lateral: string[]): [any, string] {
  const al = 'a' + n++
  const r = rnd()
  if (r < 0.15 && ctx.depth < 2) return [select(eb, { outer: [...ctx.outer, ...lateral], ctes: ctx.ctes, depth: ctx.depth + 1 }).as(al), al]
  if (r < 0.35 && ctx.ctes.length) return [`${pick(ctx.ctes)} as ${al}`, al]
  if (r < 0.42) return [sql`(select id as workspace_id, x as id, x from user_account)`.as(al), al]
  return [`${pick(['issue', 'team', 'label'])} as ${al}`, al]
}
function select(eb: any, ctx: Ctx, cols = true): any {
  const [s0, a0] = source(eb, ctx, [])
  let q = eb.selectFrom(s0)
  const own = [a0]
  const joins = Math.floor(rnd() * 3.2)
  for (let j = 0; j < joins; j++) {
    const kind = pick(['innerJoin', 'innerJoin', 'leftJoin', 'leftJoin', 'rightJoin', 'fullJoin', 'innerJoinLateral', 'leftJoinLateral', 'crossJoin'])
    const lat = kind.includes('Lateral')
    let [s, al] = lat && ctx.depth < 2 ? (() => { const al = 'a' + n++; return [select(eb, { outer: [...ctx.outer, ...own], ctes: ctx.ctes, depth: ctx.depth + 1 }).as(al), al] as [any, string] })() : source(eb, ctx, [])
    if (kind === 'crossJoin') { q = q.crossJoin(s); own.push(al); continue }
    const k = lat && typeof s === 'string' ? 'innerJoin' : kind
    own.push(al)
    const visible = [...own]
    q = q[k](s, (jb: any) => {
      if (k === 'fullJoin') return jb.onRef(`${al}.workspaceId`, '=', `${pick(own.slice(0, -1))}.workspaceId`).onRef(`${al}.id`, '=', `${own[0]}.id`)
      let o = jb
      for (let c = 0; c <= rnd() * 2.5; c++) o = o.on((e: any) => cond(e, visible, visible, { ...ctx, depth: 9 }))
      return o
    })
  }
  const all = [...own, ...own, ...ctx.outer]
  for (let c = 0; c <= rnd() * 3.5; c++) q = q.where((e: any) => cond(e, own, all, ctx))
  if (chance(0.15) && own.length === 1) q = q.where('workspaceId', '=', A)
  const p = pick(own), p2 = pick(all)
  const w = chance(0.8) ? `${p}.workspaceId` : chance(0.5) ? `${p2}.workspaceId` : null
  q = q.select([w ? `${w} as workspaceId` : sql`${A}::uuid`.as('workspaceId'), `${p}.id as id`, `${pick(own)}.x as x`])
  if (chance(0.12) && ctx.depth < 2) { const more = select(eb, { ...ctx, depth: ctx.depth + 1 }); q = chance(0.5) ? q.union(more) : q.unionAll(more) }
  return q
}
function build(db: any) {
  const ctes: string[] = []
  let q = db
  const k = Math.floor(rnd() * 2)
  for (let i = 0; i < k; i++) { const name = chance(0.15) ? pick(['team', 'label']) : 'c' + n++; const known = [...ctes]; q = q.with(name, (e: any) => select(e, { outer: [], ctes: known, depth: 1 })); ctes.push(name) }
  return select(q, { outer: [], ctes, depth: 0 })
}
let ok = 0, ref = 0, err = 0, bad = 0, leakIfUnguarded = 0
const N = Number(process.argv[3] ?? 20000)
for (let i = 0; i < N; i++) {
  const save = seed, sn = n
  let c1, c2
  try { c1 = build(d1).compile(); ok++ } catch (e) { if (e instanceof TenantGuardError) { ref++; continue } throw e }
  seed = save; n = sn
  c2 = build(d2).compile()
  try {
    const [r1, r2] = await Promise.all([d1.executeQuery(c1), d2.executeQuery(c2)])
    const k = (r: any) => JSON.stringify(r.rows.map((x: any) => JSON.stringify(x)).sort())
    if (k(r1) !== k(r2)) { bad++; if (bad < 4) console.log('LEAK', c1.sql, c1.parameters, r1.rows.length, r2.rows.length) }
  } catch (e: any) { err++; if (err < 4) console.log('err', e.message, c1.sql.slice(0, 300)) }
}
console.log({ ok, ref, err, bad })
await d1.destroy(); await d2.destroy()
