//! Leases.

use crate::conn::on;
use crate::error::broken;
use crate::schema::leases;
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use diesel::query_dsl::methods::FilterDsl;
use terrace_kernel::{StoreError, Timestamp};
use terrace_store::{Lease, LeaseRead, LeaseWrite, MAX_CLOCK_SKEW};
use uuid::Uuid;

impl LeaseRead for DieselTx<'_> {
    fn lease(&mut self, name: &str) -> Result<Option<Lease>, StoreError> {
        let row: Option<(Key, At)> = on!(self.conn, |conn| {
            QueryDsl::select(leases::table.find(name), (leases::holder, leases::expires_at))
                .first(conn)
                .optional()
        })
        .map_err(broken("read a lease"))?;
        Ok(row.map(|(holder, expires_at)| Lease { holder: holder.0, expires_at: expires_at.0 }))
    }
}

impl LeaseWrite for DieselTx<'_> {
    fn take_lease(
        &mut self,
        name: &str,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let tenure = (leases::holder.eq(Key(holder)), leases::expires_at.eq(At(until)));
        let ended = leases::expires_at.le(At(now)).or(leases::expires_at.gt(At(until.plus(MAX_CLOCK_SKEW))));
        let to_be_had = leases::holder.eq(Key(holder)).or(ended);
        let taken = on!(self.conn, |conn| {
            let insert = diesel::insert_into(leases::table)
                .values((leases::name.eq(name), tenure))
                .on_conflict(leases::name)
                .do_update()
                .set(tenure);
            FilterDsl::filter(insert, to_be_had).execute(conn)
        })
        .map_err(broken("take a lease"))?;
        Ok(taken == 1)
    }

    fn prolong_lease(&mut self, name: &str, holder: Uuid, until: Timestamp) -> Result<bool, StoreError> {
        let held = QueryDsl::filter(leases::table.find(name), leases::holder.eq(Key(holder)));
        let prolonged = on!(self.conn, |conn| {
            diesel::update(held).set(leases::expires_at.eq(At(until))).execute(conn)
        })
        .map_err(broken("prolong a lease"))?;
        Ok(prolonged == 1)
    }

    fn release_lease(&mut self, name: &str, holder: Uuid) -> Result<(), StoreError> {
        let held = QueryDsl::filter(leases::table.find(name), leases::holder.eq(Key(holder)));
        on!(self.conn, |conn| diesel::delete(held).execute(conn)).map(drop).map_err(broken("release a lease"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database, uuid};

    on_each_database! {
        a_lease_has_one_holder_until_it_is_over_or_given_back,
        a_lease_of_a_clock_that_was_wrong_is_to_be_had,
    }

    fn a_lease_has_one_holder_until_it_is_over_or_given_back(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ours, theirs) = (uuid(1), uuid(2));
        assert_eq!(tx.lease("jobs").unwrap(), None);
        assert!(tx.take_lease("jobs", ours, at(0), at(10)).unwrap());
        assert_eq!(tx.lease("jobs").unwrap(), Some(Lease { holder: ours, expires_at: at(10) }));
        assert!(!tx.take_lease("jobs", theirs, at(9), at(19)).unwrap());
        assert!(tx.take_lease("relay", theirs, at(9), at(19)).unwrap());
        assert!(tx.take_lease("jobs", ours, at(9), at(20)).unwrap());
        assert!(!tx.take_lease("jobs", theirs, at(19), at(29)).unwrap());
        assert!(tx.take_lease("jobs", theirs, at(20), at(30)).unwrap());
        assert!(!tx.prolong_lease("jobs", ours, at(40)).unwrap());
        assert!(tx.prolong_lease("jobs", theirs, at(32)).unwrap());
        tx.release_lease("jobs", ours).unwrap();
        assert!(!tx.take_lease("jobs", ours, at(21), at(31)).unwrap());
        tx.release_lease("jobs", theirs).unwrap();
        assert!(!tx.prolong_lease("jobs", theirs, at(40)).unwrap());
        assert!(tx.take_lease("jobs", ours, at(21), at(31)).unwrap());
    }
    fn a_lease_of_a_clock_that_was_wrong_is_to_be_had(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (minute, day) = (60_000_000, 24 * 60 * 60_000_000);
        assert!(tx.take_lease("jobs", uuid(1), at(day), at(day + 10)).unwrap());
        assert!(!tx.take_lease("jobs", uuid(2), at(day - minute), at(day - minute + 10)).unwrap());
        assert!(tx.take_lease("jobs", uuid(2), at(0), at(10)).unwrap());
    }
}
