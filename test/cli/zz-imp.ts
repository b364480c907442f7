import pg from 'pg';
const orig=pg.Client.prototype.query as any; const stat:Record<string,[number,number]>={};
(pg.Client.prototype as any).query=function(...a:any[]){const t=performance.now();const r=orig.apply(this,a);const text=(typeof a[0]==='string'?a[0]:a[0].text).replace(/\$\d+(, )?/g,'').replace(/(\(\s*\)(, )?)+/g,'()').slice(0,110);r?.then?.(()=>{const s=stat[text]??=[0,0];s[0]++;s[1]+=performance.now()-t;});return r;};
import { rmSync } from 'node:fs';
import { openDatabase } from '../../src/db/engine.ts';
import { migrate } from '../../src/db/migrate.ts';
import { applyDirectory } from '../../src/resolvers/directory.ts';
import { parseDirectory } from '../../src/resolvers/directory-file.ts';
import { runImport } from '../../src/cli/import.ts';
import { brokenInvariants } from '../support/invariants.ts';

const engine = process.argv[2];
let database;
if (engine==='pg'){ const c=new pg.Client('postgres://postgres@127.0.0.1:5432/test'); await c.connect(); await c.query('drop database if exists imp_real'); await c.query('create database imp_real'); await c.end(); database=await openDatabase({url:'postgres://postgres@127.0.0.1:5432/imp_real'});}
else { rmSync('/tmp/impdb',{recursive:true,force:true}); database=await openDatabase({dataDir:'/tmp/impdb'}); }
await migrate(database);
await applyDirectory(database,parseDirectory({workspace:'Acme',members:[{displayName:'Ada',emailAddress:'a@x.org',role:'owner'}],teams:[{code:'BD',name:'Beads'}]}));
const env={database,dataDir:'/tmp',stdout:(t:string)=>{process.stdout.write(t)},stderr:(t:string)=>{process.stderr.write(t)},isTerminal:false,columns:80,cwd:'/tmp',signal:new AbortController().signal};
setInterval(()=>{console.log('---',performance.now()|0);console.log(Object.entries(stat).sort((a,b)=>b[1][1]-a[1][1]).slice(0,6).map(([k,[n,t]])=>(t|0)+'ms '+n+' '+k).join('\n'));for(const k in stat)delete stat[k]},15000).unref();for (const n of [1]) { const t=Date.now(); console.log('exit',await runImport(env,{file:'g8k.jsonl',from:'beads',team:'bd',json:true}), Date.now()-t,'ms', process.memoryUsage().rss/1e6|0); }
console.log(await brokenInvariants(database));
const {rows}=await (await import('kysely')).sql`select (select count(*) from issue) issues, (select count(*) from issue where parent_issue_id is not null) parents, (select count(*) from member) members,(select count(*) from issue where closed_utc is not null) closed, (select max(char_length(description)) from issue) longest, (select count(*) from import_source) sources, (select count(*) from issue_subscription) subs`.execute(database.unscoped);
console.log(rows);
await database.close();
