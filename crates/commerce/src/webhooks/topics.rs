//! What webhooks can be told of. **This is the one place that says which events of the feed are
//! told, and under which topic.**

/// A kind of record, and what happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    /// Such as `order.created`; events of the feed have the same name.
    pub(super) name: &'static str,
    pub(super) resource: &'static str,
    pub(super) event: &'static str,
    /// The hooks by which clients know the topic from the inside.
    pub(super) hooks: &'static [&'static str],
}

/// The event after which a record cannot be shown any more.
pub(super) const DELETED: &str = "deleted";

macro_rules! topics {
    ($($resource:literal . $event:literal: $($hook:literal)*;)*) => {
        static TOPICS: &[Topic] = &[$(Topic {
            name: concat!($resource, ".", $event),
            resource: $resource,
            event: $event,
            hooks: &[$($hook),*],
        },)*];
    };
}

topics! {
    "coupon"."created": "woocommerce_process_shop_coupon_meta" "woocommerce_new_coupon";
    "coupon"."updated": "woocommerce_process_shop_coupon_meta" "woocommerce_update_coupon";
    "coupon"."deleted": "wp_trash_post";
    "coupon"."restored": "untrashed_post";
    "customer"."created": "user_register" "woocommerce_created_customer" "woocommerce_new_customer";
    "customer"."updated": "profile_update" "woocommerce_update_customer";
    "customer"."deleted": "delete_user";
    "order"."created": "woocommerce_new_order";
    "order"."updated": "woocommerce_update_order" "woocommerce_order_refunded";
    "order"."deleted": "wp_trash_post" "woocommerce_trash_order";
    "order"."restored": "untrashed_post" "woocommerce_untrash_order";
    "product"."created":
        "woocommerce_process_product_meta" "woocommerce_new_product"
        "woocommerce_new_product_variation";
    "product"."updated":
        "woocommerce_process_product_meta" "woocommerce_update_product"
        "woocommerce_update_product_variation";
    "product"."deleted": "wp_trash_post";
    "product"."restored": "untrashed_post";
}

impl Topic {
    /// The topic of this name, in whatever case.
    pub(super) fn parse(name: &str) -> Option<&'static Self> {
        TOPICS.iter().find(|topic| topic.name.eq_ignore_ascii_case(name.trim()))
    }

    /// The topic under which an event of the feed is told, if it is.
    pub(super) fn of_event(kind: &str) -> Option<&'static Self> {
        TOPICS.iter().find(|topic| topic.name == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_known_by_its_name() {
        let topic = Topic::parse("Order.Created ").unwrap();
        assert_eq!((topic.resource, topic.event), ("order", "created"));
        for unknown in ["", "order", "order.sold", "action.anything", "merchant.created"] {
            assert_eq!(Topic::parse(unknown), None, "{unknown}");
        }
        assert_eq!(Topic::of_event("product.updated").unwrap().name, "product.updated");
        assert_eq!(Topic::of_event("coupon_used"), None);
    }
}
